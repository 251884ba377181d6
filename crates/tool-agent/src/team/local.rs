//! Teams of agents that run in this process.

use std::fmt;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _};
use serde_json::json;
use tool_core::turn::{Turns, UserMessage};
use tool_core::{ErrorKind, HistoryMessage, HistoryRole, Part, ToolContext, ToolError};

use super::context::{Waiting, child_context, new_conversation};
use super::error::TeamError;
use super::run::{citations, listed, run};
use super::runner::{AgentAnswer, AgentRunner, AgentTask, TeamMember};
use crate::agent::Agent;

/// Runs [`Agent`]s of this process.
///
/// Each task runs in a new conversation with its own id, `agent:<id>:<random hex digits>`, in the workspace of the call that asks. The conversation
/// is stored by the [`Turns`], and the audit row of the call names it in the note `agent.asked`. The first message of the conversation is the task.
/// If the task has a history, the message has a first part with the history as JSON.
///
/// The context of the agent has the workspace, the users, the session, the trace and the remaining time of the call that asks, and no secrets,
/// variables or host values except the shared [budget](tool_core::turn::Budget) of the call.
///
/// The calls of an agent pass the gate of its own tools. An agent that waits for an approval, for the client or for variables has no answer; the
/// approvals that it requested are withdrawn.
///
/// An agent is not asked by the agents for whose answer it waits, directly or through others. By default, an agent that another agent asked cannot
/// ask agents. [`most_depth`](LocalTeamBuilder::most_depth) changes this.
#[derive(Clone)]
pub struct LocalTeam(Arc<Inner>);

struct Inner {
    turns: Turns,
    members: Vec<(TeamMember, Agent)>,
    most_depth: u32,
}

/// Configures a team of agents of this process; created by [`LocalTeam::builder`].
#[must_use]
pub struct LocalTeamBuilder(Inner);

impl LocalTeam {
    /// Configures a team whose conversations are stored by `turns`.
    pub fn builder(turns: &Turns) -> LocalTeamBuilder {
        LocalTeamBuilder(Inner {
            turns: turns.clone(),
            members: Vec::new(),
            most_depth: 1,
        })
    }

    fn agent(&self, id: &str) -> Result<&Agent, ToolError> {
        let mut members = self.0.members.iter();
        let found = members.find(|(member, _)| member.id == id);
        found.map(|(_, agent)| agent).ok_or_else(|| {
            let known = listed(self.0.members.iter().map(|(member, _)| member.id.as_str()));
            let text = format!("there is no agent `{id}`: ask one of {known}");
            ToolError::of(ErrorKind::InvalidArguments, text)
        })
    }

    async fn answer(&self, task: AgentTask, cx: &ToolContext) -> Result<AgentAnswer, ToolError> {
        let id = &task.agent;
        let agent = self.agent(id)?;
        let waiting = Waiting::of(cx);
        if waiting.agents.iter().any(|agent| agent == id) {
            let text = format!(
                "the agent `{id}` waits for this answer itself, so it cannot be asked: answer without it"
            );
            return Err(ToolError::of(ErrorKind::Denied, text));
        }
        if waiting.depth >= self.0.most_depth {
            let text = "the chain of agents that ask each other has reached its limit: answer without other agents";
            return Err(ToolError::of(ErrorKind::Denied, text));
        }
        let conversation = new_conversation(id)?;
        cx.audit(
            "agent.asked",
            &json!({"agent": id, "conversation": conversation}),
        );
        let child = child_context(cx, id, &conversation);
        let who = format!("the agent `{id}`");
        let ran = run(agent, message(&task), &who, &self.0.turns, &child).await;
        let text = ran.answer?;
        Ok(AgentAnswer::new(text).citations(citations(ran.results)))
    }
}

impl AgentRunner for LocalTeam {
    fn agents(&self) -> Vec<TeamMember> {
        let members = self.0.members.iter();
        members.map(|(member, _)| member.clone()).collect()
    }

    fn ask<'a>(
        &'a self,
        task: AgentTask,
        cx: &'a ToolContext,
    ) -> BoxFuture<'a, Result<AgentAnswer, ToolError>> {
        self.answer(task, cx).boxed()
    }
}

impl fmt::Debug for LocalTeam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.0.members.iter().map(|(member, _)| &member.id);
        f.debug_list().entries(ids).finish()
    }
}

/// Returns the first message of the conversation.
fn message(task: &AgentTask) -> UserMessage {
    if task.history.is_empty() {
        return UserMessage::from(task.task.as_str());
    }
    let history: Vec<_> = task.history.iter().map(line).collect();
    // JSON escapes the texts, so no text can look like the next message.
    let history = format!(
        "The conversation of the agent that asks, as JSON, for context:\n{}",
        serde_json::Value::from(history)
    );
    UserMessage::new([Part::text(history), Part::text(task.task.as_str())])
}

fn line(message: &HistoryMessage) -> serde_json::Value {
    let role = match message.speaker {
        HistoryRole::User => "user",
        HistoryRole::Assistant => "assistant",
        _ => "tool",
    };
    json!({"role": role, "text": message.text})
}

impl LocalTeamBuilder {
    /// Adds an agent. Its context has the id of `member` as [`ToolContext::agent`].
    pub fn member(mut self, member: TeamMember, agent: Agent) -> Self {
        self.0.members.push((member, agent));
        self
    }

    /// Sets the maximum depth of a chain of agents that ask each other: the number of agents after the first one. The default is 1: an agent that
    /// another agent asked cannot ask agents. The counterpart [`Rules::most_depth`](tool_core::Rules::most_depth) hides the tools.
    pub fn most_depth(mut self, most: u32) -> Self {
        self.0.most_depth = most;
        self
    }

    /// Builds the team.
    ///
    /// # Errors
    ///
    /// Fails if the team has no agents, if an id is empty, or if two agents have the same id.
    pub fn build(self) -> Result<LocalTeam, TeamError> {
        check(self.0.members.iter().map(|(member, _)| member))?;
        Ok(LocalTeam(Arc::new(self.0)))
    }
}

impl fmt::Debug for LocalTeamBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalTeamBuilder").finish_non_exhaustive()
    }
}

/// Checks that the team has agents, and that their ids are not empty and differ.
pub(super) fn check<'a>(members: impl Iterator<Item = &'a TeamMember>) -> Result<(), TeamError> {
    let mut seen: Vec<&str> = Vec::new();
    for member in members {
        if member.id.trim().is_empty() {
            return Err(TeamError::EmptyId);
        }
        if seen.contains(&member.id.as_str()) {
            return Err(TeamError::Duplicate {
                id: member.id.clone(),
            });
        }
        seen.push(&member.id);
    }
    if seen.is_empty() {
        return Err(TeamError::NoParticipants);
    }
    Ok(())
}
