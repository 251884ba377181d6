//! Sessions of sub-agents: from a message of the parent to the outcome that is delivered to it.

use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::store::{
    ChildChange, ChildRow, ChildState, EndedSession, Message, Role, SessionEnd, Timestamp,
};
use tool_core::turn::{ModelMessage, ModelRequest, StoredMessage, UserMessage};
use tool_core::{ToolError, toolset};

use super::AgentRuntime;
use super::child::{self, fresh_run, unavailable};
use super::entry::{ParentCommunication, Subagent};
use super::outcome::{self, Ended, Pause};
use super::parent::{ParentThread, detached};
use super::prompt::{BUSY, new_message};
use super::result::AgentResult;
use super::run::{Run, ended_by};

impl AgentRuntime {
    /// Runs the current session of a child to its end, and returns its result with the files in the parent's thread. `delivers` is whether the parent
    /// learns the result by a message; otherwise the caller returns it.
    pub(super) fn session<'a>(
        &'a self,
        parent: &'a Arc<Run>,
        row: ChildRow,
        delivers: bool,
    ) -> BoxFuture<'a, Result<AgentResult, Pause>> {
        // The future is boxed, because a session may run further sessions.
        Box::pin(async move {
            let paused = |error: ToolError| Pause {
                error,
                tickets: Vec::new(),
                for_human: false,
            };
            let store = self.store().map_err(paused)?;
            let target = self.index(&row.agent).ok_or_else(|| {
                paused(ToolError::unavailable("the agent").operator(format!(
                    "the runtime has no agent `{}`, which the thread {} belongs to",
                    row.agent, row.thread
                )))
            })?;
            let row = match row.state {
                ChildState::Terminated | ChildState::Idle | ChildState::Failed => {
                    return self.past_result(parent, &row, target).await.map_err(paused);
                }
                ChildState::AwaitingHuman => {
                    let from = ChildState::AwaitingHuman;
                    let changed = self.change(&row, from, ChildState::Running).await;
                    changed.map_err(paused)?.unwrap_or(row)
                }
                _ => row,
            };
            let base = self.child_context(&parent.base, target, &row.thread).await;
            let base = base.map_err(paused)?;
            let base = base.derive().with(ParentThread::new(parent, &row)).build();
            let above = parent.rules(parent.current());
            let run = Arc::new(fresh_run(self, base, row.clone(), target, Some(above)));
            let mut turns = 0;
            loop {
                let result = match self.to_the_end(&run, target, &mut turns).await {
                    Ok(result) => result,
                    Err(pause) => {
                        if pause.for_human {
                            let from = ChildState::Running;
                            let waits = self.change(&row, from, ChildState::AwaitingHuman).await;
                            waits.map_err(paused)?;
                        }
                        return Err(pause);
                    }
                };
                let mut result = self
                    .pass_result(&row.thread, parent, result)
                    .await
                    .map_err(paused)?;
                result.subagent_id = row
                    .resumable
                    .then(|| row.thread.conversation().to_owned())
                    .or_else(|| delivers.then(|| row.thread.conversation().to_owned()));
                let last = self.0.turns.last(&run.base).await;
                let last = last.map_err(|error| paused(unavailable(error)))?;
                let now = Timestamp::now();
                let message = if delivers && self.is_delivered(parent, &row.agent) {
                    let report = child::report(&row, &result);
                    let report = child::user_message(&row.parent, &report, now);
                    Some(report.map_err(paused)?)
                } else {
                    None
                };
                let tells = message.is_some();
                let end = EndedSession {
                    session: row.session,
                    state: match (row.resumable, result.is_error()) {
                        (false, _) => ChildState::Terminated,
                        (true, true) => ChildState::Failed,
                        (true, false) => ChildState::Idle,
                    },
                    read: last.map(|last| last.read()),
                    message,
                    at: now,
                };
                let ended = store.end_session(&row.thread, end).await;
                match ended.map_err(|error| paused(unavailable(error)))? {
                    SessionEnd::Ended(_) => {
                        if tells {
                            self.wake(parent);
                        }
                        return Ok(result);
                    }
                    SessionEnd::Earlier => return Ok(result),
                    SessionEnd::Unread if result.is_error() => {
                        // A failed run would fail again on the same thread: the message is read in the next session.
                        tokio::time::sleep(BUSY).await;
                    }
                    SessionEnd::Unread => {}
                }
            }
        })
    }

    /// Whether the outcomes of an agent are delivered to its parent.
    fn is_delivered(&self, parent: &Run, agent: &str) -> bool {
        let resumable = self
            .subagent_of(parent.current(), agent)
            .and_then(|tool| tool.resumable.as_ref());
        resumable.is_none_or(|resumable| resumable.communication == ParentCommunication::Implicit)
    }

    /// Returns the tool with which an agent starts another one.
    pub(super) fn subagent_of(&self, caller: usize, agent: &str) -> Option<&Subagent> {
        let mut tools = self.entry(caller).subagents.iter();
        tools.find(|tool| tool.agent == agent)
    }

    /// Changes the state of a child, if it is still in the session and the state that the caller knows.
    pub(super) async fn change(
        &self,
        row: &ChildRow,
        from: ChildState,
        to: ChildState,
    ) -> Result<Option<ChildRow>, ToolError> {
        let change = ChildChange {
            session: row.session,
            from: vec![from],
            to,
            at: Timestamp::now(),
        };
        let changed = self.store()?.change_child(&row.thread, change).await;
        changed.map_err(unavailable)
    }

    /// Lets a deferred child begin its first session. Returns `None` if it is not deferred any more.
    pub(super) async fn release(&self, row: &ChildRow) -> Result<Option<ChildRow>, ToolError> {
        self.change(row, ChildState::Deferred, ChildState::Running)
            .await
    }

    /// Drives a child until its session ends or waits.
    async fn to_the_end(
        &self,
        run: &Arc<Run>,
        target: usize,
        turns: &mut u32,
    ) -> Result<AgentResult, Pause> {
        let session = &self.entry(target).session;
        let failed = |error: ToolError| Pause {
            error,
            tickets: Vec::new(),
            for_human: false,
        };
        loop {
            let before = self.0.turns.last(&run.base).await;
            let before = before.map_err(|error| failed(unavailable(error)))?;
            let text = match outcome::ended(Box::pin(self.driven(run, None)).await) {
                Ended::Answered(text) => text,
                Ended::Failed(why) => return Ok(AgentResult::error(why)),
                Ended::Paused(pause) => return Err(pause),
                Ended::Client(results) => {
                    self.supply(run, results).await.map_err(failed)?;
                    continue;
                }
                Ended::Busy => {
                    tokio::time::sleep(BUSY).await;
                    continue;
                }
            };
            let messages = self.0.turns.messages(&run.base, None).await;
            let messages = messages.map_err(|error| failed(unavailable(error)))?;
            if let Some(end) = ended_by(session, &messages) {
                let result = end
                    .message
                    .output
                    .as_ref()
                    .and_then(|output| serde_json::from_str::<AgentResult>(output.get()).ok());
                return Ok(match result {
                    Some(result) => result,
                    None if end.failed => AgentResult::error(end.text),
                    None => AgentResult::success(end.text),
                });
            }
            let Some(partner) = &session.partner else {
                return Ok(AgentResult::success(text));
            };
            let last = self.0.turns.last(&run.base).await;
            let last = last.map_err(|error| failed(unavailable(error)))?;
            // A message that the parent wrote on behalf of the agent is not a turn of the agent.
            if last.as_ref().map(StoredMessage::seq) != before.as_ref().map(StoredMessage::seq) {
                *turns += 1;
            }
            if session.turns.is_some_and(|most| *turns >= most) {
                return Ok(AgentResult::success(text));
            }
            let reply = self.partner_reply(run, partner, &messages).await;
            let reply = match reply {
                Ok(reply) => reply,
                Err(error) => {
                    tracing::warn!(
                        error = error.operator_text(),
                        "the partner of an agent failed"
                    );
                    return Ok(AgentResult::error(format!(
                        "the partner of the agent failed: {}",
                        error.model_text()
                    )));
                }
            };
            let said = self.0.turns.say(UserMessage::from(reply), &run.base).await;
            said.map_err(|error| failed(unavailable(error)))?;
        }
    }

    /// Requests the next message of the partner, which reads the conversation with the roles exchanged.
    async fn partner_reply(
        &self,
        run: &Run,
        partner: &crate::agent::Agent,
        messages: &[Message],
    ) -> Result<String, ToolError> {
        let exchanged: Vec<Message> = messages.iter().filter_map(exchanged).collect();
        let mut model = partner.instructed(&run.base).map_err(ToolError::foreign)?;
        let tools = toolset![];
        let request = ModelRequest {
            messages: &exchanged,
            tools: &tools,
            step: 1,
            cx: &run.base,
        };
        let reply = tool_core::turn::Model::next(&mut model, request).await?;
        if reply.text.trim().is_empty() {
            return Err(ToolError::new("it wrote no text"));
        }
        Ok(reply.text)
    }

    /// Returns the result of a session that has ended, from its thread.
    async fn past_result(
        &self,
        parent: &Arc<Run>,
        row: &ChildRow,
        target: usize,
    ) -> Result<AgentResult, ToolError> {
        let cx = parent
            .base
            .derive()
            .conversation(row.thread.conversation())
            .build();
        let messages = self.0.turns.messages(&cx, None).await;
        let messages = messages.map_err(unavailable)?;
        let said = messages.iter().rev().find_map(|message| {
            let said = (message.role == Role::Assistant).then_some(&message.content)?;
            serde_json::from_str::<ModelMessage>(said).ok()
        });
        let ended = ended_by(&self.entry(target).session, &messages);
        let result = match (ended, said) {
            (Some(end), _) if end.failed => AgentResult::error(end.text),
            (Some(end), _) => AgentResult::success(end.text),
            (None, Some(said)) if said.calls.is_empty() => AgentResult::success(said.text),
            (None, _) => AgentResult::error("the agent was ended before it answered"),
        };
        let mut result = self.pass_result(&row.thread, parent, result).await?;
        if row.resumable {
            result.subagent_id = Some(row.thread.conversation().to_owned());
        }
        Ok(result)
    }

    /// Runs a session of a child in the background.
    pub(super) fn session_in_background(&self, parent: &Arc<Run>, row: ChildRow) {
        let runtime = self.clone();
        // The parent's turn ends before the session.
        let parent = Arc::new(Run::copy(parent, detached(&parent.base)));
        let thread = row.thread.clone();
        self.0.background.session(thread, async move {
            let thread = row.thread.clone();
            if let Err(pause) = runtime.session(&parent, row, true).await {
                tracing::info!(
                    thread = %thread,
                    why = pause.error.operator_text(),
                    "a sub-agent waits"
                );
            }
        });
    }

    /// Runs a session of a thread that is a parent itself, in the background.
    pub(super) fn session_of_parent(&self, run: &Arc<Run>, row: ChildRow) {
        if let Ok(above) = run.base.get::<ParentThread>() {
            self.session_in_background(above.run(), row);
        }
    }
}

/// Returns a message as the partner of its author reads it; `None` for calls, results and instructions.
fn exchanged(message: &Message) -> Option<Message> {
    let (role, content) = match message.role {
        Role::Assistant => {
            let said: ModelMessage = serde_json::from_str(&message.content).ok()?;
            if said.text.is_empty() {
                return None;
            }
            let content = serde_json::to_string(&UserMessage::from(said.text)).ok()?;
            (Role::User, content)
        }
        Role::User => {
            let said: UserMessage = serde_json::from_str(&message.content).ok()?;
            let content = serde_json::to_string(&ModelMessage::text(said.to_text())).ok()?;
            (Role::Assistant, content)
        }
        Role::System | Role::Tool => return None,
    };
    let own = new_message(&message.thread, role, content, message.at);
    Some(own.numbered(message.seq))
}
