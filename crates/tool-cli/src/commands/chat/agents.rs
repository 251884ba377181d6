//! A chat with the agents of the host, which call each other.

use std::sync::Arc;

use tool_agent::runtime::{AgentRuntime, RuntimeError};
use tool_core::store::{ChildState, ChildStore};
use tool_core::turn::{Outcome, TurnError, Turns};
use tool_core::{Gate, Ticket, ToolContext};

use super::output::Output;
use crate::args::chat::Chat;
use crate::host::HostAgents;
use crate::outcome::{Exit, Failure};

/// The runtime of the agents, and the agent that begins a conversation.
pub(super) struct Agents {
    runtime: AgentRuntime,
    first: String,
}

impl Agents {
    /// Builds the runtime of the host's agents on the stores of the chat.
    pub(super) fn new(
        agents: &HostAgents,
        turns: &Turns,
        gate: &Gate,
        children: Arc<dyn ChildStore>,
        output: &Arc<Output>,
    ) -> Result<Self, Failure> {
        let output = Arc::clone(output);
        let runtime = AgentRuntime::builder(turns.clone(), gate)
            .children_shared(children)
            .observe(move |event| output.agent_event(event));
        let usage = |error: &dyn std::fmt::Display| {
            Failure::usage(format!("the agents of the program cannot be used: {error}"))
        };
        let runtime = (agents.add)(runtime).map_err(|error| usage(&error))?;
        Ok(Self {
            runtime: runtime.build().map_err(|error| usage(&error))?,
            first: agents.first.clone(),
        })
    }

    /// Returns the description that the first line of the chat prints.
    pub(super) fn about(&self) -> String {
        format!("the agent `{}`", self.first)
    }

    /// Stores a message, if there is one, and answers it.
    pub(super) async fn drive(
        &self,
        message: Option<&str>,
        cx: &ToolContext,
    ) -> Result<Outcome, Failure> {
        let driven = match message {
            Some(message) => self.runtime.respond(&self.first, message, cx).await,
            None => self.runtime.drive(&self.first, cx).await,
        };
        driven.map_err(|error| failure(&error))
    }

    /// Returns whether the conversation has sub-agents whose session has not ended.
    pub(super) async fn has_open_sessions(&self, cx: &ToolContext) -> Result<bool, Failure> {
        let children = self.runtime.children(cx).await;
        let children = children.map_err(|error| failure(&error))?;
        let is_open = |state| matches!(state, ChildState::Running | ChildState::AwaitingHuman);
        Ok(children.iter().any(|child| is_open(child.state)))
    }

    /// Waits until no sub-agent runs in the background. Returns the approvals that sub-agents wait for.
    pub(super) async fn settle(&self, cx: &ToolContext) -> Result<Vec<Ticket>, Failure> {
        self.runtime.idle().await;
        let waiting = self.runtime.waiting(cx).await;
        waiting.map_err(|error| failure(&error))
    }
}

/// Fails if an option applies to the one model of a chat, because each agent has its own model.
pub(super) fn refuse_model(words: &Chat) -> Result<(), Failure> {
    let options = [
        ("--model", words.model.is_some()),
        ("--base-url", words.base_url.is_some()),
        ("--demo", words.demo),
        ("--record", words.record.is_some()),
        ("--replay", words.replay.is_some()),
    ];
    match options.iter().find(|(_, is_used)| *is_used) {
        Some((option, _)) => Err(Failure::usage(format!(
            "`{option}` cannot be used here, because the agents of this program have their own models"
        ))),
        None => Ok(()),
    }
}

fn failure(error: &RuntimeError) -> Failure {
    let exit = match error {
        RuntimeError::Turn(TurnError::Message(_)) | RuntimeError::UnknownAgent { .. } => {
            Exit::Usage
        }
        _ => Exit::Failed,
    };
    Failure::of(exit, error.to_string())
}
