//! Stored tools, resolved with the rows that their calls need.

use super::{StoredTool, ToolTarget};
use crate::store::{Function, FunctionVersion, Member, StoreError, ToolSchema};

/// The kind of row that contains the runtime user of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RuntimeUserLevel {
    /// The row of the tool.
    Tool,
    /// The function of the tool.
    Function,
    /// The default of the workspace.
    Workspace,
}

/// The user that a call runs as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeUser<'a> {
    /// The id of the user.
    pub user: &'a str,
    /// The kind of row that contains the user.
    pub level: RuntimeUserLevel,
}

impl<'a> RuntimeUser<'a> {
    /// Returns the first runtime user that is set: of the tool, of the function, or the default of the workspace.
    ///
    /// ```
    /// use tool_store::{RuntimeUser, RuntimeUserLevel};
    ///
    /// let user = RuntimeUser::of(None, Some("mailer"), Some("robot")).unwrap();
    /// assert_eq!((user.user, user.level), ("mailer", RuntimeUserLevel::Function));
    /// assert_eq!(RuntimeUser::of(None, None, None), None);
    /// ```
    pub fn of(
        tool: Option<&'a str>,
        function: Option<&'a str>,
        workspace: Option<&'a str>,
    ) -> Option<Self> {
        let all = [
            (tool, RuntimeUserLevel::Tool),
            (function, RuntimeUserLevel::Function),
            (workspace, RuntimeUserLevel::Workspace),
        ];
        all.into_iter()
            .find_map(|(user, level)| user.map(|user| Self { user, level }))
    }
}

/// A tool with the rows that its calls need, at the time when the store was read.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResolvedTool {
    /// The row of the tool.
    pub tool: StoredTool,
    /// The function; `None` for a client tool.
    pub function: Option<Function>,
    /// The version that runs: the pinned version, else the default of the function. `None` for a client tool, and for a tool that is not pinned if no
    /// version is published.
    pub version: Option<FunctionVersion>,
    /// The default runtime user of the workspace.
    pub default_runtime_user: Option<String>,
    /// The membership of the [runtime user](Self::runtime_user) in the workspace of the caller.
    pub member: Option<Member>,
}

impl ResolvedTool {
    /// Creates a resolved tool with only the row of the tool.
    pub fn new(tool: StoredTool) -> Self {
        Self {
            tool,
            function: None,
            version: None,
            default_runtime_user: None,
            member: None,
        }
    }

    /// Returns the id of the version that a tool runs: the pinned version, else the default of the function.
    pub fn version_of<'a>(tool: &'a StoredTool, function: &'a Function) -> Option<&'a str> {
        let pinned = tool.function_version.as_deref();
        pinned.or(function.default_version.as_deref())
    }

    /// Returns the schema of the arguments: from the tool, else from the version.
    pub fn input_schema(&self) -> Option<&ToolSchema> {
        let version = || self.version.as_ref().map(|version| &version.input_schema);
        self.tool.input_schema.as_ref().or_else(version)
    }

    /// Returns the schema of the output: from the tool, else from the version.
    pub fn output_schema(&self) -> Option<&ToolSchema> {
        let version = || self.version.as_ref().map(|version| &version.output_schema);
        self.tool.output_schema.as_ref().or_else(version)
    }

    /// Returns the user that a call runs as; `None` if no row contains a runtime user.
    pub fn runtime_user(&self) -> Option<RuntimeUser<'_>> {
        let function = self.function.as_ref();
        RuntimeUser::of(
            self.tool.runtime_user.as_deref(),
            function.and_then(|function| function.runtime_user.as_deref()),
            self.default_runtime_user.as_deref(),
        )
    }

    /// Checks whether the tool may be called now. Fails with `Missing` if it is deleted, and with `Conflict` if it is disabled, if no version can
    /// run, or if its runtime user is not a member of the workspace.
    pub fn check(&self) -> Result<(), StoreError> {
        let what = self.tool.what();
        if self.tool.is_deleted() {
            return Err(StoreError::Missing(format!("{what} is deleted")));
        }
        let conflict = |text: String| Err(StoreError::Conflict(text));
        if !self.tool.enabled {
            return conflict(format!("{what} is disabled"));
        }
        if self.tool.target == ToolTarget::Server && self.version.is_none() {
            return conflict(format!(
                "{what} has no version to run, publish a version of its function or pin a version"
            ));
        }
        match self.runtime_user() {
            Some(RuntimeUser { user, .. }) => {
                Member::check_runtime_user(user, self.member.as_ref())
            }
            None => Ok(()),
        }
    }
}
