//! The agents that share memories.

use std::fmt;

#[cfg(any(feature = "sqlite", feature = "postgres"))]
use crate::digest::sha256;
use crate::store::{StoreError, Workspace};

/// The agents that share memories: all agents of a workspace, or one agent.
///
/// A scope is also the identity of a reader: an agent reads the memories of its own scope and the shared memories of its workspace. A search requires
/// a scope instead of an optional filter, so it cannot show an agent the memories of a different agent.
///
/// ```
/// use tool_store::{MemoryScope, Workspace};
///
/// let acme = Workspace::new("acme");
/// assert_eq!(MemoryScope::shared(&acme).to_string(), "org:acme");
/// assert_eq!(MemoryScope::agent(&acme, "sales")?.to_string(), "org:acme:agent:sales");
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemoryScope {
    workspace: Workspace,
    /// Empty for the memories that all agents share.
    agent: String,
}

impl MemoryScope {
    /// Returns the scope that all agents of a workspace share.
    pub fn shared(workspace: &Workspace) -> Self {
        Self {
            workspace: workspace.clone(),
            agent: String::new(),
        }
    }

    /// Returns the scope of one agent. Fails with `Conflict` if the name is empty or contains a NUL character.
    pub fn agent(workspace: &Workspace, agent: impl Into<String>) -> Result<Self, StoreError> {
        let agent = agent.into();
        if agent.is_empty() || agent.contains('\0') {
            return Err(StoreError::Conflict(
                "the agent of a memory scope is empty or contains a NUL character: use the agent's name".to_owned(),
            ));
        }
        Ok(Self {
            workspace: workspace.clone(),
            agent,
        })
    }

    /// Returns the workspace of the agents.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Returns the agent; `None` for the shared scope.
    pub fn agent_name(&self) -> Option<&str> {
        Some(self.agent.as_str()).filter(|agent| !agent.is_empty())
    }

    /// Returns whether a reader with this scope reads the memories of `other`: the scopes are equal, or `other` is the shared scope of the workspace.
    pub fn reads(&self, other: &Self) -> bool {
        self.workspace == other.workspace && (other.agent.is_empty() || self.agent == other.agent)
    }

    /// Returns the value of the column `agent`; empty for the shared scope.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn column(&self) -> &str {
        &self.agent
    }

    /// Returns the scope of the columns of a row.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn of_columns(workspace: Workspace, agent: &str) -> Self {
        let agent = agent.to_owned();
        Self { workspace, agent }
    }

    /// Returns the scopes that a reader with this scope reads.
    pub(crate) fn readable(&self) -> Vec<Self> {
        let shared = Self::shared(&self.workspace);
        if self.agent.is_empty() {
            return vec![shared];
        }
        vec![shared, self.clone()]
    }

    /// Returns a token that identifies the scope in a full-text index. The token is a hash of the parts of the scope and their lengths, so that no
    /// other scope has the same token.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) fn token(&self) -> String {
        sha256(&["memory", self.workspace.as_str(), &self.agent])
    }
}

impl fmt::Display for MemoryScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "org:{}", self.workspace)?;
        match self.agent_name() {
            Some(agent) => write!(f, ":agent:{agent}"),
            None => Ok(()),
        }
    }
}
