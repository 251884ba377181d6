//! Limits on the sub-agents that an agent may start.

use std::collections::BTreeSet;

use tool_core::{ErrorKind, ToolError};

use super::entry::Subagent;

/// Maximum depth that a host can set.
pub(super) const MOST_DEPTH: u32 = 3;

/// Limits on the sub-agents that an agent may start.
///
/// ```
/// use tool_agent::runtime::SpawnGate;
///
/// let gate = SpawnGate::default().targets(["researcher"]).most_depth(2);
/// # let _ = gate;
/// ```
#[derive(Clone, Debug)]
#[must_use = "pass it to `AgentEntry::spawn`"]
pub struct SpawnGate {
    enabled: bool,
    targets: Option<BTreeSet<String>>,
    pub(super) most_depth: u32,
}

impl Default for SpawnGate {
    /// Allows all declared sub-agents, for an agent that is not a sub-agent itself.
    fn default() -> Self {
        Self {
            enabled: true,
            targets: None,
            most_depth: 1,
        }
    }
}

impl SpawnGate {
    /// Creates a gate that allows no sub-agents.
    pub fn disabled() -> Self {
        Self {
            enabled: false,
            ..Self::default()
        }
    }

    /// Restricts the sub-agents to these names.
    pub fn targets<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.targets = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the depth at which agents can no longer start sub-agents. A conversation has the depth 0, and each sub-agent has the depth of its parent
    /// plus 1. The default is 1, so that sub-agents start no sub-agents; the maximum is 3.
    pub fn most_depth(mut self, depth: u32) -> Self {
        self.most_depth = depth;
        self
    }

    /// Returns a target of this gate that is not one of these sub-agents.
    pub(super) fn unknown(&self, subagents: &[Subagent]) -> Option<&str> {
        let mut targets = self.targets.iter().flatten();
        let unknown = targets.find(|target| subagents.iter().all(|tool| tool.agent != **target));
        unknown.map(String::as_str)
    }

    /// Returns whether the gate lets an agent that is not a sub-agent start `target`.
    pub(super) fn admits(&self, target: &str) -> bool {
        self.check("", target, 0).is_ok()
    }

    /// Checks whether an agent at `depth` may start `target`. The error states why not.
    pub(super) fn check(&self, agent: &str, target: &str, depth: u32) -> Result<(), ToolError> {
        let refused = |text: String| Err(ToolError::of(ErrorKind::Denied, text));
        if !self.enabled {
            return refused(format!("the agent `{agent}` may not start other agents"));
        }
        if self
            .targets
            .as_ref()
            .is_some_and(|targets| !targets.contains(target))
        {
            return refused(format!(
                "the agent `{agent}` may not start the agent `{target}`"
            ));
        }
        let most = self.most_depth.min(MOST_DEPTH);
        if depth >= most {
            return refused(format!(
                "the agent `{agent}` runs at depth {depth} and starts no other agents"
            ));
        }
        Ok(())
    }
}
