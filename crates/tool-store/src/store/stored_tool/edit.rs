//! Changes of functions, versions, tools and bindings, with their authors and results.

use super::{AgentBinding, NewTool, StoredTool, ToolUpdate};
use crate::store::{
    AuditRow, Editor, Function, FunctionUpdate, FunctionVersion, NewFunction, NewFunctionVersion,
    RequestKey, StoreError, Timestamp, Workspace,
};

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
        /// [`Function::updated_at`] of the row that the editor has read; `None` if the change does not depend on it.
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
    /// Deletes a version. Fails with `Conflict` if it is the default, if a tool, even a deleted tool that is still kept, is pinned to it, or if it is
    /// the parent of a version.
    DeleteVersion {
        /// The id of the version.
        id: String,
    },
    /// Makes a version the default of its function. Later calls of tools that are not pinned to a version run this version.
    Publish {
        /// The id of the version.
        version: String,
    },
    /// Creates a tool, which is not bound to an agent yet.
    CreateTool(Box<NewTool>),
    /// Changes fields of a tool.
    UpdateTool {
        /// The id of the tool.
        id: String,
        /// The fields to change.
        update: Box<ToolUpdate>,
        /// [`StoredTool::updated_at`] of the row that the editor has read; `None` if the change does not depend on it.
        expected: Option<Timestamp>,
    },
    /// Deletes a tool. Its row is kept until the retention of the workspace's current tier ends.
    DeleteTool {
        /// The id of the tool.
        id: String,
        /// [`StoredTool::updated_at`] of the row that the editor has read; `None` if the change does not depend on it.
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

    /// Adds the audit row of the change, such as [`AuditRow::of_operator`]. If the change writes a tool, [`ToolEdited::complete`] adds the name of
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

/// The result of an edit.
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

    /// Returns the function of [`Function`](Self::Function), such as of a change that published a version; `None` for any other result.
    pub fn into_function(self) -> Option<Function> {
        match self {
            Self::Function(function) => Some(*function),
            _ => None,
        }
    }

    /// Returns the version of [`Version`](Self::Version); `None` for any other result.
    pub fn into_version(self) -> Option<FunctionVersion> {
        match self {
            Self::Version(version) => Some(*version),
            _ => None,
        }
    }

    /// Returns the tool of [`Tool`](Self::Tool); `None` for any other result.
    pub fn into_tool(self) -> Option<StoredTool> {
        match self {
            Self::Tool(tool) => Some(*tool),
            _ => None,
        }
    }
}
