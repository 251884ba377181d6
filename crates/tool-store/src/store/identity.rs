//! Identities of workspaces, threads and calls.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::StoreError;

mod call;

pub use call::{CallId, CallKey, CallPlace, EarlierCall};

/// The workspace (tenant) that a stored record belongs to.
///
/// ```
/// use tool_store::Workspace;
///
/// assert_eq!(Workspace::new("acme").as_str(), "acme");
/// assert_eq!(Workspace::single(), Workspace::new(""));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Workspace(Arc<str>);

impl Workspace {
    /// Creates a workspace from its name.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// Returns the workspace of a host with a single workspace; its name is empty. A context that contains no workspace has this workspace.
    pub fn single() -> Self {
        Self::default()
    }

    /// Returns the name of the workspace.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Workspace {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<&Workspace> for Workspace {
    fn from(workspace: &Workspace) -> Self {
        workspace.clone()
    }
}

impl fmt::Display for Workspace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The part of a store in which a method acts: one workspace, or all workspaces.
///
/// `All` is for operators and for maintenance. A host that serves a user passes the user's workspace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope<'a> {
    /// The records of one workspace.
    Workspace(&'a Workspace),
    /// The records of all workspaces.
    All,
}

impl<'a> Scope<'a> {
    /// Returns whether the scope covers a workspace.
    pub fn covers(self, workspace: &Workspace) -> bool {
        self.workspace().is_none_or(|own| own == workspace)
    }

    /// Returns the workspace; `None` if the scope covers all workspaces.
    pub fn workspace(self) -> Option<&'a Workspace> {
        match self {
            Self::Workspace(workspace) => Some(workspace),
            Self::All => None,
        }
    }
}

impl<'a> From<&'a Workspace> for Scope<'a> {
    fn from(workspace: &'a Workspace) -> Self {
        Self::Workspace(workspace)
    }
}

/// A thread: one conversation of one workspace. Conversations of two workspaces are different threads, even if their names are equal.
///
/// ```
/// use tool_store::{ThreadId, Workspace};
///
/// let acme = ThreadId::new("acme", "main")?;
/// let globex = ThreadId::new("globex", "main")?;
/// assert_ne!(acme, globex);
/// assert!(ThreadId::new("acme", "").is_err());
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ThreadId {
    workspace: Workspace,
    conversation: Arc<str>,
}

impl ThreadId {
    /// Creates the id of a conversation's thread. Fails with [`StoreError::Conflict`] if the conversation's name is empty.
    pub fn new(
        workspace: impl Into<Workspace>,
        conversation: impl Into<Arc<str>>,
    ) -> Result<Self, StoreError> {
        let conversation = conversation.into();
        if conversation.is_empty() {
            return Err(StoreError::Conflict(
                "the name of a thread's conversation is empty, give the conversation a name"
                    .to_owned(),
            ));
        }
        Ok(Self {
            workspace: workspace.into(),
            conversation,
        })
    }

    /// Returns the workspace of the thread.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the name of the conversation in its workspace.
    pub fn conversation(&self) -> &str {
        &self.conversation
    }
}

impl fmt::Display for ThreadId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.conversation)?;
        if self.workspace.as_str().is_empty() {
            return Ok(());
        }
        write!(f, " of workspace `{}`", self.workspace)
    }
}
