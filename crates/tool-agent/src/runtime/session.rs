//! Sessions of sub-agents. A session begins with a message to the sub-agent, and ends when its outcome is stored,
//! in one transaction with the message to the parent if there is one.

use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::store::{
    ChildChange, ChildRow, ChildSender, ChildState, EndedSession, Message, Receipt, Role,
    SessionEnd, ThreadId, Timestamp,
};
use tool_core::turn::{Budget, ModelMessage, ModelRequest, UserMessage};
use tool_core::{ErrorKind, ToolError, toolset};

use super::AgentRuntime;
use super::background::Queued;
use super::child::{self, fresh_run, unavailable};
use super::entry::{ParentCommunication, Session, Subagent};
use super::event::AgentEventKind;
use super::outcome::{self, Ended, Pause};
use super::parent::{ParentThread, detached};
use super::prompt::{BUSY, new_message};
use super::result::AgentResult;
use super::run::{Run, ended_by};

/// Returns a pause for an error of the runtime itself. The pause ends without an action by a person.
fn paused(error: ToolError) -> Pause {
    Pause::until_later(error)
}

impl AgentRuntime {
    /// Runs the current session of a child to its end, and returns its result with the files in the parent's thread. If no call waits for the
    /// outcome, a message passes the result to the parent, unless the sub-agent uses explicit communication.
    pub(super) fn session<'a>(
        &'a self,
        parent: &'a Arc<Run>,
        thread: &'a ThreadId,
    ) -> BoxFuture<'a, Result<AgentResult, Pause>> {
        // The future is boxed, because the function calls itself.
        Box::pin(async move {
            let store = self.store().map_err(paused)?;
            if let Some(wait) = self.0.background.rest(thread) {
                let why = "the wait that the provider of its model asked for is not over";
                return Err(Pause::for_time(wait, why));
            }
            // The row may have changed since the caller read it.
            let row = self.row_of(thread).await.map_err(paused)?;
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
            let caller = self.caller_of(parent, &row);
            let run = self.run_of(parent, &row, target).await.map_err(paused)?;
            self.adopt_below(&run).await.map_err(paused)?;
            parent
                .emit_of_child(AgentEventKind::ChildStarted {
                    child: row.thread.conversation().to_owned(),
                    child_agent: row.agent.clone(),
                    name: row.name.clone(),
                })
                .await;
            loop {
                let (result, read) = match self.to_the_end(&run, target, &row).await {
                    Ok(ended) => ended,
                    Err(pause) => {
                        if pause.for_human {
                            let from = ChildState::Running;
                            let waits = self.change(&row, from, ChildState::AwaitingHuman).await;
                            waits.map_err(paused)?;
                        }
                        if let Some(wait) = pause.time() {
                            self.0.background.rest_for(thread, wait);
                        }
                        return Err(pause);
                    }
                };
                let passed = self.pass_result(&row.thread, parent, result).await;
                let mut result = passed.map_err(paused)?;
                if row.resumable || !row.waits {
                    result.subagent_id = Some(row.thread.conversation().to_owned());
                }
                let now = Timestamp::now();
                let message = if !row.waits && self.is_delivered(caller, &row.agent) {
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
                        (_, true) => ChildState::Failed,
                        (true, false) => ChildState::Idle,
                        (false, false) => ChildState::Terminated,
                    },
                    // After a failure, a message that the run has not read does not continue the session: the next session reads the message.
                    read: read.filter(|_| !result.is_error()),
                    message,
                    at: now,
                };
                let ended = store.end_session(&row.thread, end).await;
                match ended.map_err(|error| paused(unavailable(error)))? {
                    SessionEnd::Ended(_) => {
                        parent
                            .emit_of_child(AgentEventKind::ChildEnded {
                                child: row.thread.conversation().to_owned(),
                                failed: result.is_error(),
                            })
                            .await;
                        if tells {
                            self.wake(parent);
                        }
                        return Ok(result);
                    }
                    SessionEnd::Earlier => {
                        let row = self.row_of(thread).await.map_err(paused)?;
                        return if row.is_live() || row.delivered >= row.session {
                            Ok(result)
                        } else {
                            Ok(AgentResult::error("the agent was terminated"))
                        };
                    }
                    // The next run of the session reads the message.
                    SessionEnd::Unread => tokio::task::yield_now().await,
                }
            }
        })
    }

    async fn row_of(&self, thread: &ThreadId) -> Result<ChildRow, ToolError> {
        let row = self.store()?.child(thread).await.map_err(unavailable)?;
        row.ok_or_else(|| {
            ToolError::unavailable("the agent")
                .operator(format!("the store has no child thread {thread}"))
        })
    }

    /// Returns the agent that started a child. Its settings apply even after a handoff in the parent.
    pub(super) fn caller_of(&self, parent: &Run, row: &ChildRow) -> usize {
        self.index(&row.caller).unwrap_or_else(|| parent.current())
    }

    /// Creates the run of a sub-agent.
    pub(super) async fn run_of(
        &self,
        parent: &Arc<Run>,
        row: &ChildRow,
        target: usize,
    ) -> Result<Arc<Run>, ToolError> {
        let caller = self.caller_of(parent, row);
        let base = self
            .child_context(&parent.base, (caller, target), &row.thread)
            .await?;
        let base = base.derive().with(ParentThread::new(parent, row)).build();
        let above = Some(parent.rules(caller));
        Ok(Arc::new(fresh_run(self, base, row.clone(), target, above)))
    }

    /// Returns whether the outcomes of an agent are delivered to its parent.
    fn is_delivered(&self, caller: usize, agent: &str) -> bool {
        let resumable = self
            .subagent_of(caller, agent)
            .and_then(|tool| tool.resumable.as_ref());
        resumable.is_none_or(|resumable| resumable.communication == ParentCommunication::Implicit)
    }

    /// Returns the tool with which an agent starts another one.
    pub(super) fn subagent_of(&self, caller: usize, agent: &str) -> Option<&Subagent> {
        let mut tools = self.entry(caller).subagents.iter();
        tools.find(|tool| tool.agent == agent)
    }

    /// Changes the state of a child from `from` to `to`. Returns `None` if the child is not in the session of `row`, or not in the state `from`.
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

    /// Lets a deferred child begin its first session. Returns `None` if it is no longer deferred.
    pub(super) async fn release(&self, row: &ChildRow) -> Result<Option<ChildRow>, ToolError> {
        self.change(row, ChildState::Deferred, ChildState::Running)
            .await
    }

    /// Drives a child until its session ends or waits. Returns the result, and the sequence number of the last message that the model has read;
    /// `None` if messages that it has not read do not continue the session.
    async fn to_the_end(
        &self,
        run: &Arc<Run>,
        target: usize,
        row: &ChildRow,
    ) -> Result<(AgentResult, Option<u64>), Pause> {
        let session = &self.entry(target).session;
        loop {
            let ended = outcome::ended(self.driven_apart(run).await.map_err(paused)?);
            let text = match ended {
                Ended::Answered(text) => text,
                Ended::Failed(why) => return Ok((AgentResult::error(why), None)),
                Ended::Paused(pause) => return Err(pause),
                Ended::Client(results) => {
                    self.supply(run, results).await.map_err(paused)?;
                    continue;
                }
                Ended::Busy => {
                    tokio::time::sleep(BUSY).await;
                    continue;
                }
            };
            let messages = self.0.turns.messages(&run.base, None).await;
            let messages = messages.map_err(|error| paused(unavailable(error)))?;
            let last = self.0.turns.last(&run.base).await;
            let last = last.map_err(|error| paused(unavailable(error)))?;
            let Some(last) = last else {
                return Err(paused(unavailable(
                    "the thread has no message of the model",
                )));
            };
            let is_enough = self.has_read_enough(run, &messages, last.read()).await;
            let read = (!is_enough.map_err(paused)?).then(|| last.read());
            if let Some(result) = ended_result(session, &messages, row.begins) {
                return Ok((result, read));
            }
            let Some(partner) = &session.partner else {
                return Ok((AgentResult::success(text), read));
            };
            let turns = texts_after(&messages, row.begins);
            if session.turns.is_some_and(|most| turns >= most) {
                return Ok((AgentResult::success(text), read));
            }
            let reply = match self.partner_reply(run, partner, &messages).await {
                Ok(reply) => reply,
                Err(error)
                    if let Some(wait) = error.wait()
                        && error.kind() == ErrorKind::Pending =>
                {
                    return Err(Pause::for_time(wait, error.operator_text()));
                }
                Err(error) => {
                    tracing::warn!(
                        error = error.operator_text(),
                        "the partner of an agent failed"
                    );
                    let why = format!("the partner of the agent failed: {}", error.model_text());
                    return Ok((AgentResult::error(why), None));
                }
            };
            // Two processes may request the same text from the partner. Only one of the replies is stored.
            let sender = ChildSender {
                key: Some(format!("partner:{}", last.seq())),
                ..ChildSender::default()
            };
            let reply = child::user_message(&row.thread, &reply, Timestamp::now());
            let store = self.store().map_err(paused)?;
            let told = store.message_child(reply.map_err(paused)?, sender).await;
            let told = told.map_err(|error| paused(unavailable(error)))?;
            if told.receipt == Receipt::Dead || told.row.session != row.session {
                return Ok((AgentResult::error("the agent was terminated"), None));
            }
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
        let last = messages.last().map_or(0, |message| message.seq);
        let reply = Budget::ask(&mut model, request, &format!("partner:{last}")).await?;
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
        let cx = parent.base.derive();
        let cx = cx.conversation(row.thread.conversation()).build();
        let messages = self.0.turns.messages(&cx, None).await;
        let messages = messages.map_err(unavailable)?;
        let said = messages.iter().rev().find_map(|message| {
            let is_own = message.role == Role::Assistant && message.seq > row.begins;
            let said: ModelMessage = serde_json::from_str(&message.content).ok()?;
            is_own.then_some(said)
        });
        let session = &self.entry(target).session;
        let result = match (ended_result(session, &messages, row.begins), said) {
            (Some(result), _) => result,
            (None, _) if row.delivered < row.session => {
                AgentResult::error("the agent was terminated")
            }
            (None, _) if row.state == ChildState::Failed => AgentResult::error("the agent failed"),
            (None, Some(said)) if said.calls.is_empty() => AgentResult::success(said.text),
            (None, _) => AgentResult::error("the agent was ended before it answered"),
        };
        let mut result = self.pass_result(&row.thread, parent, result).await?;
        if row.resumable {
            result.subagent_id = Some(row.thread.conversation().to_owned());
        }
        Ok(result)
    }

    /// Runs the sessions of a child in the background, until it is idle or waits.
    pub(super) fn session_in_background(&self, parent: &Arc<Run>, thread: ThreadId) {
        if self.0.background.rest(&thread).is_some() {
            return;
        }
        let runtime = self.clone();
        // The session may outlive the turn of the parent.
        let parent = Arc::new(Run::copy(parent, detached(&parent.base)));
        self.0.background.session(thread.clone(), move || {
            let (runtime, parent, thread) = (runtime.clone(), Arc::clone(&parent), thread.clone());
            Box::pin(async move { runtime.run_session(&parent, &thread).await })
        });
    }

    /// Runs one session in the background. Returns `true` if the next session has begun, or if the wait that a provider requested has ended: then
    /// call this function again.
    async fn run_session(&self, parent: &Arc<Run>, thread: &ThreadId) -> bool {
        let Ok(before) = self.row_of(thread).await else {
            return false;
        };
        if before.waits
            || before.state != ChildState::Running && before.state != ChildState::AwaitingHuman
        {
            return false;
        }
        if let Err(pause) = self.session(parent, thread).await {
            tracing::info!(
                thread = %thread,
                why = pause.error.operator_text(),
                "a sub-agent waits"
            );
            // A worker queues the conversation for the end of the wait, and then continues the sub-agent.
            let is_queued = parent.row.is_none() && parent.base.get::<Queued>().is_ok();
            let Some(wait) = pause.time().filter(|_| !is_queued) else {
                return false;
            };
            tokio::time::sleep(wait).await;
            return true;
        }
        self.row_of(thread).await.is_ok_and(|row| {
            row.session > before.session && row.state == ChildState::Running && !row.waits
        })
    }

    /// Runs, in the background, a session of a thread that has sub-agents itself.
    pub(super) fn session_of_parent(&self, run: &Arc<Run>, thread: ThreadId) {
        if let Ok(above) = run.base.get::<ParentThread>() {
            self.session_in_background(above.run(), thread);
        }
    }
}

/// Returns the result of a session that a tool has ended.
fn ended_result(session: &Session, messages: &[Message], begins: u64) -> Option<AgentResult> {
    let end = ended_by(session, messages, begins)?;
    let output = end.message.output.as_ref();
    let own = output.and_then(|output| serde_json::from_str::<AgentResult>(output.get()).ok());
    Some(match own {
        Some(own) if own.is_error() || !end.failed => own,
        Some(AgentResult { result, .. }) => AgentResult::error(result.unwrap_or(end.text)),
        None if end.failed => AgentResult::error(end.text),
        None => AgentResult::success(end.text),
    })
}

/// Returns the number of texts that the agent wrote after a message.
fn texts_after(messages: &[Message], begins: u64) -> u32 {
    let is_text = |message: &&Message| {
        message.seq > begins
            && message.role == Role::Assistant
            && serde_json::from_str::<ModelMessage>(&message.content)
                .is_ok_and(|said| said.calls.is_empty())
    };
    u32::try_from(messages.iter().filter(is_text).count()).unwrap_or(u32::MAX)
}

/// Returns a message with the roles exchanged, as the partner reads it; `None` for instructions, results, and messages of the agent without a text.
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
