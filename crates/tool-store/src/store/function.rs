//! Functions that stored tools run, and their versions.

use serde::{Deserialize, Deserializer, Serialize};

use super::{Editor, Member, MemberRole, StoreError, Timestamp, Workspace};

mod schema;
mod version;

pub use schema::ToolSchema;
pub use version::{FunctionVersion, NewFunctionVersion};

/// Deserializes a key that an update contains: a value replaces the stored value, and null removes it.
#[expect(
    clippy::option_option,
    reason = "an absent key, null and a value are three cases"
)]
pub(super) fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(from).map(Some)
}

/// The code that a function runs.
///
/// The names of files are paths in [`FunctionVersion::files`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum FunctionKind {
    /// A tool that is linked into the program.
    Linked {
        /// The name of the tool.
        tool: String,
    },
    /// A tool of an MCP server.
    Mcp {
        /// The name of the server in the host's configuration.
        server: String,
        /// The name of the tool on the server.
        tool: String,
    },
    /// An HTTP operation of an `OpenAPI` document.
    Http {
        /// The file with the document.
        document: String,
        /// The `operationId` in the document.
        operation: String,
    },
    /// TypeScript, which runs in a sandbox.
    TypeScript {
        /// The file with the entry point.
        entry: String,
    },
}

impl FunctionKind {
    /// Returns the name of the kind in stored rows and in filters.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Linked { .. } => "linked",
            Self::Mcp { .. } => "mcp",
            Self::Http { .. } => "http",
            Self::TypeScript { .. } => "type_script",
        }
    }

    /// Returns whether the code runs in a system that the host does not control. The effects of such code are unknown until an admin states them.
    pub const fn is_foreign(&self) -> bool {
        matches!(self, Self::Mcp { .. } | Self::Http { .. })
    }

    /// Returns the file that a version must contain; `None` if it needs no file.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Linked { .. } | Self::Mcp { .. } => None,
            Self::Http { document, .. } => Some(document),
            Self::TypeScript { entry } => Some(entry),
        }
    }
}

/// The effects that an admin states for a foreign function.
///
/// ```
/// use tool_store::FunctionEffects;
///
/// let unknown = FunctionEffects::default();
/// assert!(unknown.destructive && unknown.open_world && !unknown.read_only);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an independent hint of MCP"
)]
pub struct FunctionEffects {
    /// Whether the function changes nothing.
    pub read_only: bool,
    /// Whether the function may remove or overwrite state.
    pub destructive: bool,
    /// Whether a repeated call has no further effect.
    pub idempotent: bool,
    /// Whether the function interacts with systems outside of the host.
    pub open_world: bool,
}

impl Default for FunctionEffects {
    /// Returns the effects of a foreign function before an admin states them: it may have any effect.
    fn default() -> Self {
        Self {
            read_only: false,
            destructive: true,
            idempotent: false,
            open_world: true,
        }
    }
}

/// A function: code that stored tools run. Several tools may run one function under different names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Function {
    /// The id, which is unique in the store.
    pub id: String,
    /// The workspace that owns the function; `None` for a system function.
    pub workspace: Option<Workspace>,
    /// The display name of the function.
    pub name: String,
    /// What the function does, for people and for tools without a description.
    pub description: Option<String>,
    /// The code. It never changes.
    pub kind: FunctionKind,
    /// The version that tools without a pin run; `None` before a version is published.
    pub default_version: Option<String>,
    /// The user that the function runs as, unless its tool has a runtime user.
    pub runtime_user: Option<String>,
    /// The effects that an admin states; only a foreign function has them.
    pub effects: Option<FunctionEffects>,
    /// The user who created the function; `None` for a system function.
    pub created_by: Option<String>,
    /// When the function was created.
    pub created_at: Timestamp,
    /// When the function or its default version was last changed.
    pub updated_at: Timestamp,
}

/// A function to create.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NewFunction {
    /// The display name of the function.
    pub name: String,
    /// What the function does.
    #[serde(default)]
    pub description: Option<String>,
    /// The code that the function runs.
    pub kind: FunctionKind,
    /// The user that the function runs as. Only an admin may set it.
    #[serde(default)]
    pub runtime_user: Option<String>,
    /// The effects of a foreign function. Only an admin may set them.
    #[serde(default)]
    pub effects: Option<FunctionEffects>,
}

impl NewFunction {
    /// Creates a function without a description, a runtime user or stated effects.
    pub fn new(name: impl Into<String>, kind: FunctionKind) -> Self {
        Self {
            name: name.into(),
            description: None,
            kind,
            runtime_user: None,
            effects: None,
        }
    }

    /// Creates the row. Fails with `Forbidden` if the role of the editor is too low, and with `Conflict` for an invalid function.
    pub fn decide(
        self,
        editor: &Editor,
        id: String,
        at: Timestamp,
    ) -> Result<Function, StoreError> {
        editor.require(MemberRole::Author, "create a function")?;
        let function = Function {
            id,
            workspace: editor.owner().cloned(),
            name: self.name,
            description: self.description,
            kind: self.kind,
            default_version: None,
            runtime_user: self.runtime_user,
            effects: self.effects,
            created_by: editor.user().map(str::to_owned),
            created_at: at,
            updated_at: at,
        };
        function.check_fields(editor, None)?;
        Ok(function)
    }
}

/// A change of a function. Only fields that are set are changed. In JSON, null removes the description, the runtime user or the effects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FunctionUpdate {
    /// The display name of the function.
    pub name: Option<String>,
    /// What the function does.
    #[serde(deserialize_with = "nullable")]
    pub description: Option<Option<String>>,
    /// The user that the function runs as. Only an admin may change it.
    #[serde(deserialize_with = "nullable")]
    pub runtime_user: Option<Option<String>>,
    /// The effects of a foreign function. Only an admin may change them.
    #[serde(deserialize_with = "nullable")]
    pub effects: Option<Option<FunctionEffects>>,
}

impl FunctionUpdate {
    /// Returns the changed row. Fails in the same cases as [`NewFunction::decide`], with `Missing` for a function of a different workspace, and with
    /// `Forbidden` if a member changes a system function.
    pub fn decide(
        self,
        editor: &Editor,
        stored: &Function,
        at: Timestamp,
    ) -> Result<Function, StoreError> {
        editor.check_owner(stored.workspace.as_ref(), &stored.what())?;
        editor.require(MemberRole::Author, "change a function")?;
        let old = stored.clone();
        let function = Function {
            name: self.name.unwrap_or(old.name),
            description: self.description.unwrap_or(old.description),
            runtime_user: self.runtime_user.unwrap_or(old.runtime_user),
            effects: self.effects.unwrap_or(old.effects),
            updated_at: later(stored.updated_at, at),
            ..old
        };
        function.check_fields(editor, Some(stored))?;
        Ok(function)
    }
}

/// Returns the time of an update, which is later than the previous update even if the clock was set back.
pub(super) fn later(before: Timestamp, at: Timestamp) -> Timestamp {
    at.max(before.plus(std::time::Duration::from_millis(1)))
}

impl Function {
    pub(super) fn what(&self) -> String {
        format!("function `{}`", self.id)
    }

    /// Returns the error for an unknown function.
    pub fn missing(id: &str) -> StoreError {
        StoreError::Missing(format!("no function `{id}`"))
    }

    fn check_fields(&self, editor: &Editor, before: Option<&Self>) -> Result<(), StoreError> {
        let conflict = |text: &str| Err(StoreError::Conflict(text.to_owned()));
        if self.name.trim().is_empty() {
            return conflict("a function has no name, give the function a name");
        }
        if self.effects != before.and_then(|before| before.effects) {
            editor.require(MemberRole::Admin, "state the effects of a function")?;
            if self.effects.is_some() && !self.kind.is_foreign() {
                return conflict(
                    "the effects of functions of the kinds `linked` and `type_script` follow from the tools that they call, only the effects of functions of the kinds `mcp` and `http` can be stated",
                );
            }
        }
        let before = before.and_then(|before| before.runtime_user.as_ref());
        check_runtime_user_right(editor, self.runtime_user.as_ref(), before)
    }

    /// Checks the membership of the runtime user, if it has changed. `member` is the membership of [`runtime_user`](Self::runtime_user).
    pub fn check_member(
        &self,
        before: Option<&Self>,
        member: Option<&Member>,
    ) -> Result<(), StoreError> {
        let before = before.and_then(|before| before.runtime_user.as_ref());
        check_member(self.runtime_user.as_ref(), before, member)
    }

    /// Checks whether the function may be removed. `tools` is the number of tools that run it, including deleted tools that are still kept. Fails
    /// with `Missing` for a function of a different workspace, with `Forbidden` if a member removes a system function or if the role of the editor is
    /// too low, and with `Conflict` if `tools` is not 0.
    pub fn check_removal(&self, editor: &Editor, tools: u64) -> Result<(), StoreError> {
        editor.check_owner(self.workspace.as_ref(), &self.what())?;
        editor.require(MemberRole::Author, "delete a function")?;
        if tools > 0 {
            return Err(StoreError::Conflict(format!(
                "{} is used by {}, including deleted tools that are still kept: give these tools a different function first",
                self.what(),
                counted(tools, "tool")
            )));
        }
        Ok(())
    }

    /// Makes a version the default. Fails with `Missing` for a function of a different workspace, with `Forbidden` if a member changes a system
    /// function or if the role of the editor is too low, and with `Conflict` if the version belongs to a different function. If the function has
    /// stated effects, only an admin may publish.
    pub fn publish(
        &self,
        editor: &Editor,
        version: &FunctionVersion,
        at: Timestamp,
    ) -> Result<Self, StoreError> {
        editor.check_owner(self.workspace.as_ref(), &self.what())?;
        editor.require(MemberRole::Author, "publish a version")?;
        if self.effects.is_some() {
            // The effects were stated for the published version, and a new version may have other effects.
            editor.require(
                MemberRole::Admin,
                "publish a version of a function whose effects an admin has stated",
            )?;
        }
        version.check_function(&self.id)?;
        Ok(Self {
            default_version: Some(version.id.clone()),
            updated_at: later(self.updated_at, at),
            ..self.clone()
        })
    }
}

/// Fails with `Forbidden` if the editor may not change a runtime user, and with `Conflict` if a system row has a runtime user.
pub(super) fn check_runtime_user_right(
    editor: &Editor,
    user: Option<&String>,
    before: Option<&String>,
) -> Result<(), StoreError> {
    if user == before {
        return Ok(());
    }
    editor.require(MemberRole::Admin, "set a runtime user")?;
    if user.is_some() && editor.owner().is_none() {
        return Err(StoreError::Conflict(
            "a system row has no runtime user, because it belongs to no workspace: leave the runtime user out".to_owned(),
        ));
    }
    Ok(())
}

/// Fails with `Conflict` if a runtime user has changed and is not a member.
pub(super) fn check_member(
    user: Option<&String>,
    before: Option<&String>,
    member: Option<&Member>,
) -> Result<(), StoreError> {
    match user {
        Some(name) if user != before => Member::check_runtime_user(name, member),
        _ => Ok(()),
    }
}

/// A filter for functions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionFilter {
    /// Functions whose name contains this text, ignoring the case of ASCII letters.
    pub name: Option<String>,
    /// Functions of this kind, as [`FunctionKind::as_str`] names it.
    pub kind: Option<String>,
    /// The maximum number of functions.
    pub limit: Option<u32>,
    /// The cursor: only functions after it. It is the time of creation and the id of the last function of the previous page.
    pub after: Option<(Timestamp, String)>,
}

impl FunctionFilter {
    /// Returns whether the filter admits a function that the caller may read. The caller applies `limit`.
    pub fn admits(&self, function: &Function) -> bool {
        let place = (function.created_at, &function.id);
        let after = self.after.as_ref();
        self.name
            .as_ref()
            .is_none_or(|part| contains(&function.name, part))
            && self
                .kind
                .as_ref()
                .is_none_or(|kind| kind == function.kind.as_str())
            && after.is_none_or(|(at, id)| place > (*at, id))
    }
}

/// Returns whether a name contains a text, ignoring the case of ASCII letters.
pub(super) fn contains(name: &str, part: &str) -> bool {
    let lower = str::to_ascii_lowercase;
    lower(name).contains(&lower(part))
}

/// Formats a number of items, such as `1 tool` or `2 tools`.
fn counted(count: u64, noun: &str) -> String {
    let end = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{end}")
}
