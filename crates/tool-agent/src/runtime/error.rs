//! Errors of a runtime.

use tool_core::RegistryError;
use tool_core::store::StoreError;
use tool_core::turn::TurnError;
use tool_core::variables::VariableClash;

use super::entry::AgentKind;

/// The configuration of a runtime is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeConfigError {
    /// The runtime has no agents.
    #[error("the runtime has no agents: add one with `agent`")]
    Empty,
    /// Two entries have the same name.
    #[error("two agents are named `{0}`: rename one of them")]
    Twice(String),
    /// An exposed agent has no description.
    #[error(
        "the agent `{0}` is exposed as a tool without a description: describe in `expose` when a model should call it"
    )]
    NoDescription(String),
    /// An entry names an agent that is not in the runtime.
    #[error(
        "the agent `{agent}` calls `{target}`, which is not in the runtime: add it, or correct the name; the agents are {known}"
    )]
    Unknown {
        /// The name of the calling agent.
        agent: String,
        /// The name that it calls.
        target: String,
        /// The names of all agents.
        known: String,
    },
    /// A spawn gate names an agent that is not a sub-agent of its entry.
    #[error(
        "the spawn gate of the agent `{agent}` names `{target}`, which is not one of its sub-agents: add it with `subagent`, or correct the name; its sub-agents are {known}"
    )]
    Target {
        /// The agent with the gate.
        agent: String,
        /// The name in the gate.
        target: String,
        /// The names of its sub-agents.
        known: String,
    },
    /// An entry calls an agent that is not exposed as a tool.
    #[error(
        "the agent `{agent}` calls `{target}`, which is not exposed as a tool: call `expose` on its entry"
    )]
    NotExposed {
        /// The name of the calling agent.
        agent: String,
        /// The agent that it calls.
        target: String,
    },
    /// A handoff or a sub-agent names an agent of the wrong kind.
    #[error(
        "the agent `{agent}` uses `{target}` as {wanted} agent, but it is {}: {}",
        .kind.as_str(),
        match .kind {
            AgentKind::Autonomous => "remove `autonomous` from its entry, or use `subagent`",
            AgentKind::Conversational => "call `autonomous` on its entry, or use `handoff`",
        }
    )]
    Kind {
        /// The name of the calling agent.
        agent: String,
        /// The agent that it calls.
        target: String,
        /// The kind of the target.
        kind: AgentKind,
        /// The kind that is needed.
        wanted: &'static str,
    },
    /// A tool names a property that the arguments do not have.
    #[error(
        "the agent `{agent}` reads the property `{property}` of the arguments of `{target}`, which has no such property: the properties are {known}"
    )]
    Property {
        /// The name of the calling agent.
        agent: String,
        /// The agent that it calls.
        target: String,
        /// The name of the property.
        property: String,
        /// The properties that the arguments have.
        known: String,
    },
    /// Two tools of an agent have the same name.
    #[error("the agent `{agent}` has two tools named `{tool}`: remove one of them")]
    ToolTwice {
        /// The name of the agent.
        agent: String,
        /// The name of both tools.
        tool: String,
    },
    /// The depth of a spawn gate is out of range.
    #[error(
        "the agent `{agent}` may start agents up to the depth {depth}: set `most_depth` to at most 3"
    )]
    Depth {
        /// The name of the agent.
        agent: String,
        /// The depth that is configured.
        depth: u32,
    },
    /// A setting of an agent is invalid, for example because it contradicts a different setting, or because a session would never end.
    #[error("the agent `{agent}` {fault}")]
    Setting {
        /// The name of the agent.
        agent: String,
        /// The fault, and what to write instead.
        fault: &'static str,
    },
    /// An agent needs a part of the runtime that is not configured.
    #[error("the agent `{agent}` {what}: call `{method}` on the builder of the runtime")]
    Needs {
        /// The name of the agent.
        agent: String,
        /// What the agent does that needs this part.
        what: &'static str,
        /// The method that configures the missing part.
        method: &'static str,
    },
    /// A name or a schema cannot be offered as a tool.
    #[error("the tools that call agents are invalid: {0}")]
    Tool(#[from] RegistryError),
    /// A variable is declared with two types.
    #[error(transparent)]
    Variable(#[from] VariableClash),
}

/// An error of a run of a runtime.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuntimeError {
    /// The runtime has no agent of this name.
    #[error("the runtime has no agent `{agent}`: the agents are {known}")]
    UnknownAgent {
        /// The unknown name.
        agent: String,
        /// The names of all agents.
        known: String,
    },
    /// A tool of an agent has the name of a tool that the runtime adds.
    #[error(
        "the agent `{agent}` has a tool named `{tool}`, which is the name of a tool that calls agents: rename the tool"
    )]
    NameTaken {
        /// The name of the agent.
        agent: String,
        /// The name of both tools.
        tool: String,
    },
    /// The sub-agent does not exist, or belongs to a different conversation.
    #[error(
        "the conversation has no sub-agent `{0}`: use the conversation of a row that `AgentRuntime::children` returns"
    )]
    UnknownChild(String),
    /// The conversation is the thread of a sub-agent or of a prompt, which only its parent drives.
    #[error(
        "the conversation `{0}` is the thread of a sub-agent or of a prompt: drive the conversation that started it"
    )]
    ChildThread(String),
    /// The agent loop failed, the context has no conversation, or the store of threads failed.
    #[error(transparent)]
    Turn(#[from] TurnError),
    /// The store of child threads failed.
    #[error("the store of child threads failed: {0}")]
    Store(#[from] StoreError),
    /// A part of the runtime failed, for example the vault, the object store or a store of the runtime.
    #[error("the runtime failed: {}", .0.operator_text())]
    Tool(tool_core::ToolError),
}

impl From<tool_core::ToolError> for RuntimeError {
    fn from(error: tool_core::ToolError) -> Self {
        Self::Tool(error)
    }
}
