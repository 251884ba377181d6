//! Tools that operators create at run time: their rows, the decisions about changes, and the trait of their store.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::hex;

use super::function::{check_member, check_runtime_user_right, contains, later, nullable};
use super::{
    AuditRow, Directory, Editor, Function, FunctionFilter, FunctionKind, FunctionUpdate,
    FunctionVersion, Member, MemberRole, NewFunction, NewFunctionVersion, RequestKey,
    RetentionTier, Scope, StoreError, StoreFuture, Timestamp, ToolSchema, Workspace, words,
};

mod resolved;

pub use resolved::{ResolvedTool, RuntimeUser, RuntimeUserLevel};

/// Returns a new id of a function, a version or a tool. Fails with `Unavailable` if the operating system fails to return random bytes.
pub(crate) fn new_row_id() -> Result<String, StoreError> {
    let bytes = crate::env::distinct();
    let bytes = bytes.map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    Ok(hex(&bytes))
}

/// The roles that may enable tools and bind them to agents.
const RUNNING: &[MemberRole] = &[MemberRole::Author, MemberRole::Operator];

/// Where a tool runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolTarget {
    /// The host runs the tool's function.
    Server,
    /// The client runs the tool and sends its result.
    Client,
}

words!(ToolTarget {
    Server = "server",
    Client = "client",
});

/// The origin of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolSource {
    /// A member of the workspace created the tool.
    Workspace,
    /// The host's program created the tool, for every workspace.
    System,
    /// A member of the workspace created the tool, and its function runs in a system that the host does not control.
    Integration,
}

words!(ToolSource {
    Workspace = "workspace",
    System = "system",
    Integration = "integration",
});

impl ToolSource {
    /// Returns the source of a tool, from its owner and the kind of its function.
    pub fn of(owner: Option<&Workspace>, kind: Option<&FunctionKind>) -> Self {
        if owner.is_none() {
            Self::System
        } else if kind.is_some_and(FunctionKind::is_foreign) {
            Self::Integration
        } else {
            Self::Workspace
        }
    }
}

/// An example of a call, for the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredExample {
    /// The arguments of the call.
    pub args: Value,
    /// The output; `None` if the example has no output.
    #[serde(default)]
    pub result: Option<Value>,
}

/// A stored tool. Its JSON contains every key; the value of an empty field is null.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredTool {
    /// The id, which the store assigns and which is unique in the store.
    pub id: String,
    /// The workspace that owns the tool; `None` for a system tool.
    pub workspace: Option<Workspace>,
    /// The name that the model sees. It does not depend on the name of the function.
    pub name: String,
    /// When the model should use the tool, in words for the model.
    pub description: Option<String>,
    /// Where the tool runs.
    pub target: ToolTarget,
    /// The id of the function; `None` for a client tool.
    pub function: Option<String>,
    /// The version to which the tool is pinned. If it is `None`, each call runs the default version that the function has at that time.
    pub function_version: Option<String>,
    /// The schema of the arguments, for the model and for the check of calls. `None` is the schema of the version that runs.
    pub input_schema: Option<ToolSchema>,
    /// The schema that every output must match. `None` is the schema of the version that runs.
    pub output_schema: Option<ToolSchema>,
    /// Examples for the model.
    pub examples: Option<Vec<StoredExample>>,
    /// Whether a person must approve each call.
    pub requires_confirmation: bool,
    /// Whether the tool is offered to models and may be called. A disabled tool keeps its bindings.
    pub enabled: bool,
    /// Whether the tool belongs to the system, so that no member may change it.
    pub system: bool,
    /// The origin of the tool.
    pub source: ToolSource,
    /// The user who created the tool; `None` for a system tool.
    pub created_by: Option<String>,
    /// The user that the tool runs as. If it is `None`, the user of the function applies, and then the default of the workspace.
    pub runtime_user: Option<String>,
    /// When the tool was deleted; `None` for an active tool.
    pub deleted_at: Option<Timestamp>,
    /// The tier of the workspace when the tool was deleted; `None` for an active tool.
    pub retention_tier: Option<RetentionTier>,
    /// When the tool was created.
    pub created_at: Timestamp,
    /// When the tool was last changed. Each change sets a later time.
    pub updated_at: Timestamp,
}

/// The rows on which the decision about a tool depends. A store reads them in the transaction of the change.
#[derive(Clone, Copy, Debug, Default)]
pub struct ToolFacts<'a> {
    /// The function of the tool; `None` if it does not exist or the editor may not read it.
    pub function: Option<&'a Function>,
    /// The pinned version of the tool; `None` if it does not exist or the editor may not read it.
    pub version: Option<&'a FunctionVersion>,
    /// The membership of the tool's runtime user.
    pub member: Option<&'a Member>,
}

impl StoredTool {
    pub(super) fn what(&self) -> String {
        format!("tool `{}`", self.id)
    }

    /// Returns the error for an unknown tool.
    pub fn missing(id: &str) -> StoreError {
        StoreError::Missing(format!("no tool `{id}`"))
    }

    /// Returns whether the tool was deleted.
    pub fn is_deleted(&self) -> bool {
        self.deleted_at.is_some()
    }

    /// Returns the time at which a deleted tool is removed; `None` for an active tool, and for a deleted tool that is kept forever.
    pub fn due(&self) -> Option<Timestamp> {
        self.retention_tier?.due(self.deleted_at?)
    }

    /// Returns the tool's position in the order of lists: time of creation, then id.
    pub fn place(&self) -> (Timestamp, String) {
        (self.created_at, self.id.clone())
    }

    /// Completes a created or changed tool, and checks it against the rows that it refers to. `before` is the stored tool. Fails with `Missing` if
    /// one of these rows does not exist, and with `Conflict` if the tool is invalid.
    pub fn decide(
        mut self,
        before: Option<&Self>,
        facts: ToolFacts<'_>,
    ) -> Result<Self, StoreError> {
        let conflict = |text: &str| Err(StoreError::Conflict(text.to_owned()));
        if self.name.trim().is_empty() {
            return conflict("a tool has no name, give the tool a name");
        }
        match (self.target, &self.function) {
            (ToolTarget::Server, None) => {
                return conflict(
                    "a tool with the target `server` runs a function, set `function` to the id of a function",
                );
            }
            (ToolTarget::Client, Some(_)) => {
                return conflict(
                    "a tool with the target `client` does not run a function: leave `function` out",
                );
            }
            (ToolTarget::Client, None) => {
                if self.function_version.is_some() {
                    return conflict(
                        "a tool with the target `client` has no version of a function, leave `function_version` out",
                    );
                }
                if self.input_schema.is_none() || self.output_schema.is_none() {
                    return conflict(
                        "a tool with the target `client` has no function with schemas, set `input_schema` and `output_schema`",
                    );
                }
            }
            (ToolTarget::Server, Some(id)) => {
                let function = facts.function.filter(|function| function.id == *id);
                let function = function.ok_or_else(|| Function::missing(id))?;
                if self.system && function.workspace.is_some() {
                    return Err(Function::missing(id));
                }
                if let Some(version) = &self.function_version {
                    let found = facts.version.filter(|found| found.id == *version);
                    let found = found.ok_or_else(|| FunctionVersion::missing(version))?;
                    found.check_function(id)?;
                }
            }
        }
        let kind = facts.function.map(|function| &function.kind);
        self.source = ToolSource::of(self.workspace.as_ref(), kind);
        let before = before.and_then(|before| before.runtime_user.as_ref());
        check_member(self.runtime_user.as_ref(), before, facts.member)?;
        Ok(self)
    }

    /// Deletes the tool, which stays readable until its retention ends. The current tier of the workspace determines this time. Fails with `Missing`
    /// for a tool of a different workspace, with `Forbidden` for a system tool and if the role of the editor is too low, and with `Conflict` if the
    /// tool is already deleted, so that the time does not change.
    pub fn delete(
        mut self,
        editor: &Editor,
        tier: RetentionTier,
        at: Timestamp,
    ) -> Result<Self, StoreError> {
        editor.check_owner(self.workspace.as_ref(), &self.what())?;
        editor.require(MemberRole::Author, "delete a tool")?;
        self.check_live()?;
        self.updated_at = later(self.updated_at, at);
        (self.deleted_at, self.retention_tier) = (Some(at), Some(tier));
        Ok(self)
    }

    fn check_live(&self) -> Result<(), StoreError> {
        if self.is_deleted() {
            return Err(StoreError::Conflict(format!(
                "{} is deleted, create a new tool instead",
                self.what()
            )));
        }
        Ok(())
    }

    /// Checks whether the tool may be bound to an agent, or unbound from it. A system tool may be bound in every workspace. Returns the workspace of
    /// the binding. Fails with `Forbidden` if the role of the editor is too low, with `Missing` for a tool of a different workspace and for an editor
    /// without a workspace, and with `Conflict` if the agent has no id or a deleted tool is to be bound.
    pub fn check_binding<'e>(
        &self,
        editor: &'e Editor,
        agent: &str,
        binds: bool,
    ) -> Result<&'e Workspace, StoreError> {
        editor.require_any(RUNNING, "bind a tool to an agent")?;
        let Some(workspace) = editor
            .owner()
            .filter(|_| editor.sees(self.workspace.as_ref()))
        else {
            return Err(Self::missing(&self.id));
        };
        if agent.is_empty() {
            let text = "a binding has no agent, give the id of an agent";
            return Err(StoreError::Conflict(text.to_owned()));
        }
        if binds {
            self.check_live()?;
        }
        Ok(workspace)
    }
}

fn enabled() -> bool {
    true
}

/// A tool to create. The store sets the id, the times, and all other fields of [`StoredTool`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct NewTool {
    /// The name that the model sees.
    pub name: String,
    /// When the model should use the tool.
    #[serde(default)]
    pub description: Option<String>,
    /// Where the tool runs.
    pub target: ToolTarget,
    /// The id of the function; left out for a client tool.
    #[serde(default)]
    pub function: Option<String>,
    /// The version to which the tool is pinned.
    #[serde(default)]
    pub function_version: Option<String>,
    /// The schema of the arguments.
    #[serde(default, deserialize_with = "ToolSchema::optional")]
    pub input_schema: Option<ToolSchema>,
    /// The schema of the output.
    #[serde(default, deserialize_with = "ToolSchema::optional")]
    pub output_schema: Option<ToolSchema>,
    /// Examples for the model.
    #[serde(default)]
    pub examples: Option<Vec<StoredExample>>,
    /// Whether a person must approve each call; false by default.
    #[serde(default)]
    pub requires_confirmation: bool,
    /// Whether models may use the tool; true by default.
    #[serde(default = "enabled")]
    pub enabled: bool,
    /// The user that the tool runs as. Only an admin may set it.
    #[serde(default)]
    pub runtime_user: Option<String>,
}

impl NewTool {
    /// Creates a tool that the host runs.
    pub fn server(name: impl Into<String>, function: impl Into<String>) -> Self {
        Self {
            function: Some(function.into()),
            ..Self::of(name.into(), ToolTarget::Server)
        }
    }

    /// Creates a tool that the client runs.
    pub fn client(name: impl Into<String>, input: ToolSchema, output: ToolSchema) -> Self {
        Self {
            input_schema: Some(input),
            output_schema: Some(output),
            ..Self::of(name.into(), ToolTarget::Client)
        }
    }

    fn of(name: String, target: ToolTarget) -> Self {
        Self {
            name,
            description: None,
            target,
            function: None,
            function_version: None,
            input_schema: None,
            output_schema: None,
            examples: None,
            requires_confirmation: false,
            enabled: true,
            runtime_user: None,
        }
    }

    /// Returns the row for [`StoredTool::decide`]. Fails with `Forbidden` if the role of the editor is too low.
    pub fn begin(
        self,
        editor: &Editor,
        id: String,
        at: Timestamp,
    ) -> Result<StoredTool, StoreError> {
        editor.require(MemberRole::Author, "create a tool")?;
        check_runtime_user_right(editor, self.runtime_user.as_ref(), None)?;
        Ok(StoredTool {
            id,
            workspace: editor.owner().cloned(),
            name: self.name,
            description: self.description,
            target: self.target,
            function: self.function,
            function_version: self.function_version,
            input_schema: self.input_schema,
            output_schema: self.output_schema,
            examples: self.examples,
            requires_confirmation: self.requires_confirmation,
            enabled: self.enabled,
            system: editor.owner().is_none(),
            source: ToolSource::of(editor.owner(), None),
            created_by: editor.user().map(str::to_owned),
            runtime_user: self.runtime_user,
            deleted_at: None,
            retention_tier: None,
            created_at: at,
            updated_at: at,
        })
    }
}

/// A change of a tool. Only fields that are set are changed; null removes a value. The other fields of a tool cannot be changed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolUpdate {
    /// The name that the model sees.
    pub name: Option<String>,
    /// When the model should use the tool.
    #[serde(deserialize_with = "nullable")]
    pub description: Option<Option<String>>,
    /// The id of the function.
    pub function: Option<String>,
    /// The version to which the tool is pinned.
    #[serde(deserialize_with = "nullable")]
    pub function_version: Option<Option<String>>,
    /// The schema of the arguments.
    #[serde(deserialize_with = "ToolSchema::change")]
    pub input_schema: Option<Option<ToolSchema>>,
    /// The schema of the output.
    #[serde(deserialize_with = "ToolSchema::change")]
    pub output_schema: Option<Option<ToolSchema>>,
    /// Examples for the model.
    #[serde(deserialize_with = "nullable")]
    pub examples: Option<Option<Vec<StoredExample>>>,
    /// Whether a person must approve each call.
    pub requires_confirmation: Option<bool>,
    /// Whether models may use the tool. An operator may change it.
    pub enabled: Option<bool>,
    /// The user that the tool runs as. Only an admin may change it.
    #[serde(deserialize_with = "nullable")]
    pub runtime_user: Option<Option<String>>,
}

impl ToolUpdate {
    /// Creates a change that only enables or disables a tool.
    pub fn enable(enabled: bool) -> Self {
        Self {
            enabled: Some(enabled),
            ..Self::default()
        }
    }

    /// Returns the row for [`StoredTool::decide`]. Fails with `Missing` for a tool of a different workspace, with `Forbidden` for a system tool and
    /// if the role of the editor is too low, and with `Conflict` for a deleted tool.
    pub fn begin(
        self,
        editor: &Editor,
        stored: &StoredTool,
        at: Timestamp,
    ) -> Result<StoredTool, StoreError> {
        editor.check_owner(stored.workspace.as_ref(), &stored.what())?;
        let only_enables = self
            == Self {
                enabled: self.enabled,
                ..Self::default()
            };
        if only_enables {
            editor.require_any(RUNNING, "enable or disable a tool")?;
        } else {
            editor.require(MemberRole::Author, "change a tool")?;
        }
        if let Some(user) = &self.runtime_user {
            let before = stored.runtime_user.as_ref();
            check_runtime_user_right(editor, user.as_ref(), before)?;
        }
        stored.check_live()?;
        let old = stored.clone();
        Ok(StoredTool {
            name: self.name.unwrap_or(old.name),
            description: self.description.unwrap_or(old.description),
            function: self.function.or(old.function),
            function_version: self.function_version.unwrap_or(old.function_version),
            input_schema: self.input_schema.unwrap_or(old.input_schema),
            output_schema: self.output_schema.unwrap_or(old.output_schema),
            examples: self.examples.unwrap_or(old.examples),
            requires_confirmation: self
                .requires_confirmation
                .unwrap_or(old.requires_confirmation),
            enabled: self.enabled.unwrap_or(old.enabled),
            runtime_user: self.runtime_user.unwrap_or(old.runtime_user),
            updated_at: later(old.updated_at, at),
            ..old
        })
    }
}

/// Whether a list contains active tools, deleted tools, or both.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum IncludeDeleted {
    /// The list contains only active tools.
    #[default]
    #[serde(rename = "false")]
    No,
    /// The list contains active and deleted tools.
    #[serde(rename = "true")]
    Yes,
    /// The list contains only deleted tools.
    #[serde(rename = "only")]
    Only,
}

words!(IncludeDeleted {
    No = "false",
    Yes = "true",
    Only = "only",
});

/// A filter for stored tools: a tool must match every field that is set. Lists are ordered by the time of creation and the id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredToolFilter {
    /// Whether deleted tools are listed.
    pub include_deleted: IncludeDeleted,
    /// Tools of this source. If it is `None`, the list contains the tools of the workspace and of the system.
    pub source: Option<ToolSource>,
    /// Tools that are bound to this agent.
    pub agent: Option<String>,
    /// Tools that run this function.
    pub function: Option<String>,
    /// Tools with this target.
    pub target: Option<ToolTarget>,
    /// Tools whose name contains this text, ignoring the case of ASCII letters.
    pub name: Option<String>,
    /// Only tools that require a confirmation, or only tools that do not.
    pub requires_confirmation: Option<bool>,
    /// The cursor: only tools after it. It is [`StoredTool::place`] of the last tool of the previous page.
    pub after: Option<(Timestamp, String)>,
    /// Only tools before this [place](StoredTool::place). Without `after`, the page contains the last tools before it.
    pub before: Option<(Timestamp, String)>,
    /// The maximum number of tools, from 1 to 100; 100 by default.
    pub limit: Option<u32>,
}

impl StoredToolFilter {
    /// The largest number of tools in a page, which is also the default.
    pub const MOST: u32 = 100;

    /// Returns the number of tools in a page. Fails with `Conflict` if the limit is out of range.
    pub fn page(&self) -> Result<u32, StoreError> {
        match self.limit.unwrap_or(Self::MOST) {
            limit @ 1..=Self::MOST => Ok(limit),
            limit => Err(StoreError::Conflict(format!(
                "the limit {limit} is out of range, give a number from 1 to {}",
                Self::MOST
            ))),
        }
    }

    /// Returns whether the page contains the last matching tools instead of the first matching tools.
    pub fn is_backward(&self) -> bool {
        self.before.is_some() && self.after.is_none()
    }

    /// Returns whether the filter admits a tool of the workspace or of the system. `is_bound` is whether the tool is bound to the agent of the
    /// filter. The caller applies the limit.
    pub fn admits(&self, tool: &StoredTool, is_bound: bool) -> bool {
        let place = (tool.created_at, &tool.id);
        let is_past = |(at, id): &(Timestamp, String)| place > (*at, id);
        let is_short_of = |(at, id): &(Timestamp, String)| place < (*at, id);
        let deleted = match self.include_deleted {
            IncludeDeleted::No => !tool.is_deleted(),
            IncludeDeleted::Yes => true,
            IncludeDeleted::Only => tool.is_deleted(),
        };
        deleted
            && self.source.is_none_or(|source| source == tool.source)
            && (self.agent.is_none() || is_bound)
            && (self.function.is_none() || self.function == tool.function)
            && self.target.is_none_or(|target| target == tool.target)
            && self
                .name
                .as_ref()
                .is_none_or(|part| contains(&tool.name, part))
            && self
                .requires_confirmation
                .is_none_or(|asks| asks == tool.requires_confirmation)
            && self.after.as_ref().is_none_or(is_past)
            && self.before.as_ref().is_none_or(is_short_of)
    }
}

/// The row that binds a tool to an agent.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentBinding {
    /// The workspace of the agent.
    pub workspace: Workspace,
    /// The id of the agent.
    pub agent: String,
    /// The id of the tool.
    pub tool: String,
    /// The user who bound the tool.
    pub by: String,
    /// When the tool was bound.
    pub at: Timestamp,
}

impl AgentBinding {
    /// Creates the row of a binding.
    pub fn new(
        workspace: impl Into<Workspace>,
        agent: impl Into<String>,
        tool: impl Into<String>,
        by: impl Into<String>,
        at: Timestamp,
    ) -> Self {
        Self {
            workspace: workspace.into(),
            agent: agent.into(),
            tool: tool.into(),
            by: by.into(),
            at,
        }
    }
}

/// A filter for bindings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BindingFilter {
    /// Bindings of this agent.
    pub agent: Option<String>,
    /// Bindings of this tool.
    pub tool: Option<String>,
    /// The maximum number of bindings.
    pub limit: Option<u32>,
    /// The cursor: only bindings after it. It is the agent and the tool of the last binding of the previous page.
    pub after: Option<(String, String)>,
}

impl BindingFilter {
    /// Returns whether the filter admits a binding. The caller applies `limit`.
    pub fn admits(&self, binding: &AgentBinding) -> bool {
        let place = (&binding.agent, &binding.tool);
        let after = self.after.as_ref();
        self.agent
            .as_ref()
            .is_none_or(|agent| *agent == binding.agent)
            && self.tool.as_ref().is_none_or(|tool| *tool == binding.tool)
            && after.is_none_or(|(agent, tool)| place > (agent, tool))
    }
}

/// A change of functions, versions, tools or bindings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolChange {
    /// Creates a function, which has no version yet.
    CreateFunction(NewFunction),
    /// Changes fields of a function.
    UpdateFunction {
        /// The id of the function.
        id: String,
        /// The fields to change.
        update: FunctionUpdate,
        /// [`Function::updated_at`] of the row that the editor has read; `None` changes any row.
        expected: Option<Timestamp>,
    },
    /// Deletes a function with its versions. Fails with `Conflict` while a tool, even a deleted tool that is still kept, runs the function.
    DeleteFunction {
        /// The id of the function.
        id: String,
    },
    /// Creates a version of a function. [`Publish`](Self::Publish) makes it the default.
    CreateVersion {
        /// The id of the function.
        function: String,
        /// The version to create.
        version: NewFunctionVersion,
    },
    /// Deletes a version. Fails with `Conflict` if it is the default, if a tool pins it, or if it is the parent of a version.
    DeleteVersion {
        /// The id of the version.
        id: String,
    },
    /// Makes a version the default of its function. Later calls of tools without a pin run this version.
    Publish {
        /// The id of the version.
        version: String,
    },
    /// Creates a tool, which no agent has yet.
    CreateTool(Box<NewTool>),
    /// Changes fields of a tool.
    UpdateTool {
        /// The id of the tool.
        id: String,
        /// The fields to change.
        update: Box<ToolUpdate>,
        /// [`StoredTool::updated_at`] of the row that the editor has read; `None` changes any row.
        expected: Option<Timestamp>,
    },
    /// Deletes a tool. Its row is kept until the retention of the workspace's current tier ends.
    DeleteTool {
        /// The id of the tool.
        id: String,
        /// [`StoredTool::updated_at`] of the row that the editor has read; `None` deletes any row.
        expected: Option<Timestamp>,
    },
    /// Binds a tool to an agent. An existing binding is not changed.
    Bind {
        /// The id of the agent.
        agent: String,
        /// The id of the tool.
        tool: String,
    },
    /// Removes a binding. The tool is not changed.
    Unbind {
        /// The id of the agent.
        agent: String,
        /// The id of the tool.
        tool: String,
    },
}

/// A change, its author and its time.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolEdit {
    /// The author of the change.
    pub editor: Editor,
    /// The change to make.
    pub change: ToolChange,
    /// When the change is made.
    pub at: Timestamp,
    /// The audit row of the change, which is written in the same transaction. A refused change writes no audit row.
    pub audit: Option<Box<AuditRow>>,
    /// The idempotency key of the request, if the client sent one.
    pub key: Option<RequestKey<ToolEdited>>,
}

impl ToolEdit {
    /// Creates an edit without an audit row and without an idempotency key.
    pub fn new(editor: Editor, change: ToolChange, at: Timestamp) -> Self {
        Self {
            editor,
            change,
            at,
            audit: None,
            key: None,
        }
    }

    /// Adds the audit row of the change, such as [`AuditRow::of_operator`]. If the change concerns a tool, [`ToolEdited::complete`] adds the name of
    /// the tool to the row.
    #[must_use]
    pub fn audited(self, row: AuditRow) -> Self {
        let audit = Some(Box::new(row));
        Self { audit, ..self }
    }

    /// Adds the idempotency key of the request: a repeated request changes nothing, and returns [`ToolEdited::Repeated`].
    #[must_use]
    pub fn once(self, key: RequestKey<ToolEdited>) -> Self {
        let key = Some(key);
        Self { key, ..self }
    }

    /// Checks the edit without the stored rows, and returns the workspace of the editor, if the editor is a member. Fails with `Missing` if the audit
    /// row belongs to a different workspace, and with `Conflict` if an edit by the program has an idempotency key.
    pub fn check(&self) -> Result<Option<&Workspace>, StoreError> {
        let own = self.editor.owner();
        if let (Some(own), Some(row)) = (own, &self.audit)
            && row.identity.workspace() != own
        {
            let other = row.identity.workspace();
            return Err(StoreError::Missing(format!("no workspace `{other}`")));
        }
        if own.is_none() && self.key.is_some() {
            return Err(StoreError::Conflict(
                "an idempotency key belongs to a workspace, edit as a member of the workspace"
                    .to_owned(),
            ));
        }
        Ok(own)
    }

    /// Fails with `Stale` if a row has changed since the editor read it.
    pub fn check_expected(
        expected: Option<Timestamp>,
        stored: Timestamp,
    ) -> Result<(), StoreError> {
        if expected.is_none_or(|expected| expected == stored) {
            return Ok(());
        }
        Err(StoreError::Stale(
            "the row has changed since it was read, read it again".to_owned(),
        ))
    }
}

/// The row that a change has written or removed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ToolEdited {
    /// The stored function, or the deleted function.
    Function(Box<Function>),
    /// The stored version, or the deleted version.
    Version(Box<FunctionVersion>),
    /// The stored tool, which may be deleted.
    Tool(Box<StoredTool>),
    /// The binding that was added or removed.
    Binding {
        /// The stored binding, or the removed binding; `None` if the binding to remove did not exist.
        binding: Option<AgentBinding>,
        /// Whether a row was added or removed.
        changed: bool,
    },
    /// The request is a repetition. Nothing was changed, and this is the stored response.
    Repeated(String),
}

impl ToolEdited {
    /// Adds the name of the tool to the audit row of a change, if the change wrote a tool.
    pub fn complete(&self, audit: &mut AuditRow) {
        if let Self::Tool(tool) = self {
            audit.tool.clone_from(&tool.name);
        }
    }

    /// Returns the function; `None` if the change did not concern a function.
    pub fn into_function(self) -> Option<Function> {
        match self {
            Self::Function(function) => Some(*function),
            _ => None,
        }
    }

    /// Returns the version; `None` if the change did not concern a version.
    pub fn into_version(self) -> Option<FunctionVersion> {
        match self {
            Self::Version(version) => Some(*version),
            _ => None,
        }
    }

    /// Returns the tool; `None` if the change did not concern a tool.
    pub fn into_tool(self) -> Option<StoredTool> {
        match self {
            Self::Tool(tool) => Some(*tool),
            _ => None,
        }
    }
}

/// A store of functions, their versions, tools and their bindings to agents.
///
/// A member of a workspace may read the rows of the workspace and of the system, and may change only rows of the workspace.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, acme, now) = (MemoryStore::default(), Workspace::new("acme"), Timestamp::now());
/// let olga = Editor::member(&acme, "olga", MemberRole::Author);
/// let edit = async |change| store.edit(ToolEdit::new(olga.clone(), change, now)).await;
///
/// let mail = FunctionKind::Linked { tool: "send_mail".to_owned() };
/// let mail = edit(ToolChange::CreateFunction(NewFunction::new("mail", mail))).await?.into_function().unwrap();
/// let schema = ToolSchema::new(r#"{"type":"object","properties":{},"additionalProperties":false}"#)?;
/// let version = NewFunctionVersion::new(schema.clone(), schema);
/// let version = ToolChange::CreateVersion { function: mail.id.clone(), version };
/// let version = edit(version).await?.into_version().unwrap();
/// edit(ToolChange::Publish { version: version.id.clone() }).await?;
/// let tool = NewTool::server("tell_the_team", mail.id);
/// let tool = edit(ToolChange::CreateTool(Box::new(tool))).await?.into_tool().unwrap();
/// edit(ToolChange::Bind { agent: "support".to_owned(), tool: tool.id.clone() }).await?;
///
/// let tools = store.agent_tools(&acme, "support").await?;
/// assert_eq!(tools[0].tool.name, "tell_the_team");
/// assert_eq!(tools[0].version.as_ref(), Some(&version));
/// # Ok(())
/// # }
/// ```
pub trait StoredToolStore: Directory {
    /// Makes a change and writes its audit row, if it is set, in one transaction.
    ///
    /// Fails with `Missing` for a row that does not exist or that belongs to a different workspace, with `Forbidden` for a system row and if the role
    /// of the editor is too low, with `Stale` if the row has changed since the expected time, and with `Conflict` if the stored rows do not allow the
    /// change.
    ///
    /// The transaction also stores the response under the idempotency key, if the edit has one. If the key is stored and has not expired at
    /// [`RequestKey::at`], the method changes nothing and returns [`ToolEdited::Repeated`] with the response of [`RequestKey::repeated`].
    fn edit(&self, edit: ToolEdit) -> StoreFuture<'_, ToolEdited>;

    /// Returns the response that [`edit`](Self::edit) would return for a repeated request; `None` if the key is not stored or has expired. A caller
    /// can answer a repeated request with this response before it validates the change against rows that may have changed.
    fn repeated<'a>(
        &'a self,
        workspace: &'a Workspace,
        key: &'a RequestKey<ToolEdited>,
    ) -> StoreFuture<'a, Option<String>>;

    /// Returns a tool of the workspace or of the system, even if it is deleted.
    fn stored_tool<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<StoredTool>>;

    /// Returns a page of the tools of the workspace and of the system, ordered by time of creation and id. Fails with `Conflict` if the limit is
    /// out of range.
    fn stored_tools<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a StoredToolFilter,
    ) -> StoreFuture<'a, Vec<StoredTool>>;

    /// Returns a function of the workspace or of the system.
    fn function<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<Function>>;

    /// Returns the functions of the workspace and of the system, ordered by time of creation and id.
    fn functions<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a FunctionFilter,
    ) -> StoreFuture<'a, Vec<Function>>;

    /// Returns a version of a function of the workspace or of the system.
    fn function_version<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<FunctionVersion>>;

    /// Returns the versions of a function of the workspace or of the system, ordered by number.
    fn function_versions<'a>(
        &'a self,
        workspace: &'a Workspace,
        function: &'a str,
    ) -> StoreFuture<'a, Vec<FunctionVersion>>;

    /// Returns the bindings of a workspace, ordered by agent and tool.
    fn bindings<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a BindingFilter,
    ) -> StoreFuture<'a, Vec<AgentBinding>>;

    /// Returns a tool of the workspace or of the system with the current rows that a call of the tool needs.
    fn resolve_tool<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ResolvedTool>>;

    /// Returns the tools that are bound to an agent, enabled and not deleted, with the rows that calls need, ordered by time of creation and id.
    fn agent_tools<'a>(
        &'a self,
        workspace: &'a Workspace,
        agent: &'a str,
    ) -> StoreFuture<'a, Vec<ResolvedTool>>;

    /// Removes at most `most` deleted tools of a scope whose retention is over at `now`, with their bindings, and returns the tools. [`Scope::All`]
    /// includes system tools.
    fn purge_tools<'a>(
        &'a self,
        scope: Scope<'a>,
        now: Timestamp,
        most: u32,
    ) -> StoreFuture<'a, Vec<StoredTool>>;
}
