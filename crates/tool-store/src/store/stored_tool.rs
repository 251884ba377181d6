//! Tools that operators create at run time: their rows, the decisions about changes, and the trait of their store.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::digest::hex;

use super::function::{check_member, later};
use super::{
    Directory, Editor, Function, FunctionFilter, FunctionKind, FunctionVersion, Member, MemberRole,
    RequestKey, RetentionTier, Scope, StoreError, StoreFuture, Timestamp, ToolSchema, Workspace,
    words,
};

mod edit;
mod filter;
mod resolved;
mod update;

pub use edit::{ToolChange, ToolEdit, ToolEdited};
pub use filter::{BindingFilter, IncludeDeleted, StoredToolFilter};
pub use resolved::{ResolvedTool, RuntimeUser, RuntimeUserLevel};
pub use update::{NewTool, ToolUpdate};

/// Returns a new id of a function, a version or a tool. Fails with `Unavailable` if the operating system fails to return random bytes.
pub(crate) fn new_row_id() -> Result<String, StoreError> {
    let bytes = crate::env::distinct();
    let bytes = bytes.map_err(|error| StoreError::Unavailable(Box::new(error)))?;
    Ok(hex(&bytes))
}

/// The roles of which one is required to enable tools and to bind them to agents.
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
    /// the function or the version does not exist, or if the tool may not use the function, and with `Conflict` if the tool is invalid or its new
    /// runtime user is not a member.
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
    /// for a tool of a different workspace, with `Forbidden` if a member deletes a system tool or if the role of the editor is too low, and with
    /// `Conflict` if the tool is already deleted, so that the time does not change.
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
    /// Fails with `Missing` for a row that does not exist or that belongs to a different workspace, with `Forbidden` if a member changes a system row
    /// or if the role of the editor is too low, with `Stale` if the row has changed since the expected time, and with `Conflict` if the stored rows
    /// do not allow the change.
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
