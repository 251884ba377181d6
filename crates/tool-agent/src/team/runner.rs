//! The trait `AgentRunner`, and the types of its tasks and answers.

use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::{Citation, HistoryMessage, ToolContext, ToolError};

/// Runs agents by their ids: in this process ([`LocalTeam`](super::LocalTeam)), or in a different service.
///
/// ```
/// use futures::future::{BoxFuture, FutureExt as _, ready};
/// use tool_agent::team::{AgentAnswer, AgentRunner, AgentTask, TeamMember};
/// use tool_core::{ToolContext, ToolError};
///
/// struct Echo;
///
/// impl AgentRunner for Echo {
///     fn agents(&self) -> Vec<TeamMember> {
///         vec![TeamMember::new("echo", "Echo", "Repeats the task.")]
///     }
///
///     fn ask<'a>(&'a self, task: AgentTask, _: &'a ToolContext) -> BoxFuture<'a, Result<AgentAnswer, ToolError>> {
///         ready(Ok(AgentAnswer::new(task.task))).boxed()
///     }
/// }
/// # let _: &dyn AgentRunner = &Echo;
/// ```
#[doc(alias("sub-agent", "subagent", "handoff", "multi-agent", "orchestrator"))]
pub trait AgentRunner: Send + Sync + 'static {
    /// Returns the agents, in the order in which tools list them.
    fn agents(&self) -> Vec<TeamMember>;

    /// Runs an agent on a task and returns its answer. `cx` is the context of the call that asks: its caller, workspace and deadline.
    ///
    /// The future is dropped if the call is cancelled or takes too long, and the drop must end the requests of the agent. The same agent may be asked
    /// several times at once; these runs must not share a conversation.
    ///
    /// # Errors
    ///
    /// Fails if no agent has the id, if the agent may not be asked, or if it has no answer. The model that asks reads [`ToolError::model_text`].
    fn ask<'a>(
        &'a self,
        task: AgentTask,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<AgentAnswer, ToolError>>;
}

impl<R: AgentRunner + ?Sized> AgentRunner for Arc<R> {
    fn agents(&self) -> Vec<TeamMember> {
        (**self).agents()
    }

    fn ask<'a>(
        &'a self,
        task: AgentTask,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<AgentAnswer, ToolError>> {
        (**self).ask(task, cx)
    }
}

/// An agent that can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TeamMember {
    /// The id, by which tools and policies name the agent.
    pub id: String,
    /// The name for people and for the model that asks.
    pub name: String,
    /// A description of the agent's knowledge or work, for the model that asks.
    pub description: String,
}

impl TeamMember {
    /// Creates the record of an agent.
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            description: description.into(),
        }
    }
}

/// A task for an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentTask {
    /// The id of the agent.
    pub agent: String,
    /// The task as text.
    pub task: String,
    /// The conversation of the agent that asks, oldest message first, as context for the task; empty if the tool passes none.
    pub history: Vec<HistoryMessage>,
}

impl AgentTask {
    /// Creates a task without a history.
    pub fn new(agent: impl Into<String>, task: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            task: task.into(),
            history: Vec::new(),
        }
    }

    /// Sets the conversation so far, oldest message first.
    #[must_use]
    pub fn history(mut self, messages: Vec<HistoryMessage>) -> Self {
        self.history = messages;
        self
    }
}

/// The answer of an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentAnswer {
    /// The answer as text.
    pub text: String,
    /// The citations of the tools that the agent called, in the order of the calls.
    pub citations: Vec<Citation>,
}

impl AgentAnswer {
    /// Creates an answer without citations.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            citations: Vec::new(),
        }
    }

    /// Adds citations to the answer.
    #[must_use]
    pub fn citations(mut self, citations: impl IntoIterator<Item = Citation>) -> Self {
        self.citations.extend(citations);
        self
    }
}
