//! The context and the conversation of an agent that another agent asks.

use std::fmt::Write as _;
use std::sync::Arc;

use tool_core::turn::Budget;
use tool_core::{ToolContext, ToolError};
use tool_store::env;

/// The agents that wait for an answer, from the first one to the agent that runs now.
#[derive(Clone, Default)]
pub(super) struct Waiting {
    pub(super) agents: Arc<[String]>,
    /// The depth of the chain: the number of its agents that another agent asked.
    pub(super) depth: u32,
}

tool_core::host_value!(Waiting, tool_core::Effect::NONE);

impl Waiting {
    /// Returns the agents that wait for the answer of a call with this context, including the agent that makes the call.
    pub(super) fn of(cx: &ToolContext) -> Self {
        let known = cx.get::<Self>();
        known.unwrap_or_else(|_| Self {
            agents: cx.agent().map(str::to_owned).into_iter().collect(),
            depth: 0,
        })
    }

    /// Returns these agents with `agent` added: the chain while `agent` runs.
    fn and(&self, agent: &str) -> Self {
        let agents = self.agents.iter().cloned();
        Self {
            agents: agents.chain([agent.to_owned()]).collect(),
            depth: self.depth + 1,
        }
    }
}

/// Returns the context of an agent that answers in its own conversation. Inside of a call, a derived context has the caller, the deadline and the
/// cancellation of the call. It has no secrets, variables and host values, so the agents that wait and the shared budget are set again.
pub(crate) fn child_context(cx: &ToolContext, agent: &str, conversation: &str) -> ToolContext {
    let child = cx.derive().agent(agent).conversation(conversation);
    let child = child.with(Waiting::of(cx).and(agent));
    match cx.get::<Budget>() {
        Ok(budget) => child.with(budget).build(),
        Err(_) => child.build(),
    }
}

/// Returns the id of a new conversation. No other conversation has it.
pub(super) fn new_conversation(agent: &str) -> Result<String, ToolError> {
    let mut bytes = [0; 16];
    env::random(&mut bytes).map_err(|error| {
        ToolError::foreign(error)
            .operator("no random id could be created for the conversation of an agent")
    })?;
    let mut id = format!("agent:{agent}:");
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(id, "{byte:02x}");
    }
    Ok(id)
}
