//! Reasons why a tool is hidden from a turn.

use std::fmt;

/// The check that hid a tool from a turn. The checks run in this order, and the first check that hides a tool is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Layer {
    /// The process's environment lacks a variable that the tool needs.
    Environment = 1,
    /// The tool's plugin was built for a different version of this crate.
    Engine,
    /// The tool is a harness tool, and its category does not belong to this kind of turn.
    Harness,
    /// No row enables the tool.
    Enablement,
    /// The tool is switched off for the instance, the workspace or all workspaces.
    Disabled,
    /// Memory is off, and the tool has the category `memory`.
    Memory,
    /// Knowledge is off, and the tool has the category `knowledge`.
    Knowledge,
    /// A secret that the tool needs is missing or empty.
    Secrets,
    /// The flag that switches the tool on is not `true`, `1` or `yes`.
    Optional,
    /// The tool starts sub-agents, and this is the turn of a sub-agent.
    SpawnTask,
    /// The tool calls an agent that does not accept calls from agents.
    AgentChannel,
    /// The tool calls an agent, and this is the turn of a sub-agent or has reached the maximum depth of nested agent calls.
    AgentDepth,
    /// The lists for all agents omit or deny the tool.
    Global,
    /// The agent's allow list does not name the tool.
    Allow,
    /// A deny list names the tool.
    Deny,
    /// The agent that started this agent cannot use the tool.
    Spawn,
    /// A deny rule of the policy refuses every call of the tool.
    Policy,
    /// The tool's kill switch is on.
    Killed,
    /// The tool is not read-only, and the stored switches or enablement rows could not be read for more than a second.
    Unread,
    /// One of the agent's own tools has the same name and replaces it.
    Overridden,
    /// A filter of the toolset removed the tool.
    Filter,
    /// The tool was hidden when the toolset was prepared for this turn.
    Prepare,
}

impl Layer {
    const ALL: [Self; 22] = [
        Self::Environment,
        Self::Engine,
        Self::Harness,
        Self::Enablement,
        Self::Disabled,
        Self::Memory,
        Self::Knowledge,
        Self::Secrets,
        Self::Optional,
        Self::SpawnTask,
        Self::AgentChannel,
        Self::AgentDepth,
        Self::Global,
        Self::Allow,
        Self::Deny,
        Self::Spawn,
        Self::Policy,
        Self::Killed,
        Self::Unread,
        Self::Overridden,
        Self::Filter,
        Self::Prepare,
    ];

    /// Returns the layer's name in stores and audit rows.
    pub const fn as_str(self) -> &'static str {
        self.words().0
    }

    /// Returns one sentence for operators: the reason and, if there is one, the remedy.
    pub const fn sentence(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Environment => (
                "environment",
                "an environment variable that it needs is not set: set it and restart",
            ),
            Self::Engine => (
                "engine",
                "its plugin was built for a different version of tool-core: update the plugin or tool-core",
            ),
            Self::Harness => (
                "harness",
                "it is a harness tool, and this kind of turn does not include its category",
            ),
            Self::Enablement => (
                "enablement",
                "no enablement row enables it: enable it for this instance",
            ),
            Self::Disabled => (
                "disabled",
                "it is switched off for this instance or workspace: switch it on",
            ),
            Self::Memory => ("memory", "memory is off for this instance: turn it on"),
            Self::Knowledge => (
                "knowledge",
                "knowledge is off for this instance: turn it on",
            ),
            Self::Secrets => (
                "secrets",
                "a secret that it needs is missing or empty: enter it",
            ),
            Self::Optional => (
                "optional",
                "the flag that switches it on is not `true`, `1` or `yes`: set it",
            ),
            Self::SpawnTask => (
                "spawn_task",
                "it starts sub-agents, and a sub-agent cannot start any",
            ),
            Self::AgentChannel => (
                "agent_channel",
                "the agent that it calls accepts no calls from agents: turn its agent channel on",
            ),
            Self::AgentDepth => (
                "agent_depth",
                "it calls an agent, and this is the turn of a sub-agent or at the maximum depth of nested agents",
            ),
            Self::Global => (
                "global",
                "the allow and deny lists for every agent exclude it: change these lists",
            ),
            Self::Allow => ("allow", "the agent's allow list does not name it: add it"),
            Self::Deny => (
                "deny",
                "a deny list of the agent, or of a parent agent, names the tool: remove it from the list",
            ),
            Self::Spawn => (
                "spawn",
                "the agent that started this one does not have it: enable it there",
            ),
            Self::Policy => (
                "policy",
                "a rule of the policy refuses every call of it: see the policy's deny rules",
            ),
            Self::Killed => ("killed", "its kill switch is on: turn the switch off"),
            Self::Unread => (
                "unread",
                "it is not read-only, and the stored switches or enablement rows could not be read for a second: check the store",
            ),
            Self::Overridden => (
                "overridden",
                "one of the agent's own tools has the same name and replaced it",
            ),
            Self::Filter => ("filter", "a filter of the toolset removed it"),
            Self::Prepare => (
                "prepare",
                "it was hidden when the toolset was prepared for this turn",
            ),
        }
    }

    /// Returns the layer as one byte. Zero is reserved for a visible tool.
    pub(crate) const fn code(self) -> u8 {
        self as u8
    }

    pub(crate) fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The visibility of a tool and the reason for it, returned by [`Toolset::explain`](crate::Toolset::explain).
///
/// This is for operators: a model gets the same error for a hidden tool as for a tool that does not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explanation {
    pub(crate) name: String,
    /// The alias for which the explanation was requested.
    pub(crate) alias: Option<String>,
    pub(crate) state: State,
    pub(crate) details: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Visible,
    Hidden(Layer),
    Unknown,
}

impl Explanation {
    /// Returns the name for which the explanation was requested, or the present name if that was an alias.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the layer that hid the tool; `None` if the tool is visible or does not exist.
    pub fn layer(&self) -> Option<Layer> {
        match self.state {
            State::Hidden(layer) => Some(layer),
            State::Visible | State::Unknown => None,
        }
    }

    /// Returns whether the tool is visible to the turn.
    pub fn is_visible(&self) -> bool {
        self.state == State::Visible
    }

    /// Returns whether a tool of this name exists, visible or not.
    pub fn exists(&self) -> bool {
        self.state != State::Unknown
    }

    /// Returns the layer's name; empty if the tool is visible, `unknown` if it does not exist.
    pub fn as_str(&self) -> &'static str {
        match self.state {
            State::Visible => "",
            State::Hidden(layer) => layer.as_str(),
            State::Unknown => "unknown",
        }
    }
}

/// Writes one sentence for operators, or nothing if the tool is visible.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        let details = self.details.join("`, `");
        match self.state {
            State::Visible => return Ok(()),
            State::Hidden(layer) => write!(f, "`{name}` [{layer}]: {}", layer.sentence())?,
            State::Unknown if details.is_empty() => write!(f, "there is no tool `{name}`")?,
            State::Unknown => write!(f, "there is no tool `{name}`, did you mean `{details}`?")?,
        }
        if self.exists() && !details.is_empty() {
            write!(f, " (`{details}`)")?;
        }
        if let Some(alias) = &self.alias {
            write!(f, " (`{alias}` is an earlier name of `{name}`)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Layer;

    // S1-61: a layer can be read back from its byte, and each layer has its own name and sentence.
    #[test]
    fn every_layer_has_its_own_code_and_sentence() {
        let words: std::collections::BTreeSet<_> =
            Layer::ALL.iter().map(|layer| layer.words()).collect();
        assert_eq!(words.len(), Layer::ALL.len());
        for layer in Layer::ALL {
            assert_eq!(Layer::from_code(layer.code()), Some(layer));
        }
        assert_eq!(Layer::from_code(0), None);
        assert_eq!(Layer::from_code(23), None);
        assert!(Layer::ALL.is_sorted());
    }
}
