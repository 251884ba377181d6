//! Messages of a sub-agent to its parent.

use std::fmt;
use std::sync::Arc;

use tool_core::store::{
    ChildChange, ChildKind, ChildRow, ChildSender, ChildState, Message, Receipt, Role, Timestamp,
};
use tool_core::turn::Outcome;
use tool_core::{CancellationToken, Effect, FromContext, ToolContext, ToolError};

use super::AgentRuntime;
use super::child::{self, unavailable};
use super::prompt::BUSY;
use super::result::AgentResult;
use super::run::Run;

/// Maximum number of runs of a conversation, or of sessions of a sub-agent, that begin because a sub-agent answered, after one message of the user
/// or of the parent. Without this limit, an agent that starts a sub-agent after each answer would never stop.
const MOST_WAKES: usize = 25;

/// The thread that started the sub-agent, as a host value for tools: `parent: &ParentThread`. It exists only in the thread of a sub-agent.
#[derive(Clone)]
pub struct ParentThread {
    parent: Arc<Run>,
    row: ChildRow,
}

impl ParentThread {
    pub(super) fn new(parent: &Arc<Run>, row: &ChildRow) -> Self {
        Self {
            parent: Arc::clone(parent),
            row: row.clone(),
        }
    }

    pub(super) fn run(&self) -> &Arc<Run> {
        &self.parent
    }

    /// Sends a message to the parent, which reads it with its next request. If no run of the parent is active, one begins. At most 25 runs begin in
    /// this way after one message of the user. If the parent is a sub-agent, they begin after one message of its own parent, or, if its
    /// [session](super::Session) has a partner, after one message of the user.
    ///
    /// # Errors
    ///
    /// Fails if the text is empty, if this agent or its parent was terminated, and if a store fails.
    pub async fn notify(&self, text: &str) -> Result<(), ToolError> {
        if text.trim().is_empty() {
            return Err(ToolError::new(
                "the message for the parent is empty: write what the parent has to know",
            ));
        }
        let runtime = &self.parent.runtime;
        let row = runtime.store()?.child(&self.row.thread).await;
        if !row.map_err(unavailable)?.is_some_and(|row| row.is_live()) {
            return Err(ToolError::new(
                "the message was not sent, because this agent was terminated",
            ));
        }
        let mut result = AgentResult::success(text);
        result.subagent_id = Some(self.row.thread.conversation().to_owned());
        let result = runtime.pass_result(&self.row.thread, &self.parent, result);
        let text = child::report(&self.row, &result.await?);
        match &self.parent.row {
            None => {
                let said = runtime.0.turns.say(text, &self.parent.base).await;
                said.map_err(unavailable)?;
                runtime.wake(&self.parent);
            }
            Some(row) if runtime.stays_idle(&self.parent, row).await? => {
                let said = runtime.0.turns.say(text, &self.parent.base).await;
                said.map_err(unavailable)?;
            }
            Some(row) => {
                let message = child::message_of(&row.thread, Role::User, &text, Timestamp::now())?;
                let told = runtime
                    .store()?
                    .message_child(message, ChildSender::default())
                    .await;
                let told = told.map_err(unavailable)?;
                match told.receipt {
                    Receipt::Begun => {
                        runtime.session_of_parent(&self.parent, told.row.thread);
                    }
                    Receipt::Dead => {
                        return Err(ToolError::new(
                            "the message was not sent, because the parent was terminated",
                        ));
                    }
                    Receipt::Queued | Receipt::Known => {}
                }
            }
        }
        Ok(())
    }
}

impl FromContext for ParentThread {
    const EFFECT: Effect = Effect::WRITE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the parent of the agent"))
    }
}

impl fmt::Debug for ParentThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ParentThread")
            .field("thread", &self.row.parent)
            .finish_non_exhaustive()
    }
}

/// Returns the messages of users and the answers of sub-agents, the last one first.
fn users(messages: &[Message]) -> impl Iterator<Item = &Message> {
    let messages = messages.iter().rev();
    messages.filter(|message| message.role == Role::User)
}

/// Returns the answers of sub-agents after the last message of a user, the last one first.
fn reports_after_user(messages: &[Message]) -> impl Iterator<Item = &Message> {
    users(messages).take_while(|message| child::is_report(&message.content))
}

/// Returns the context of a turn for work that outlives the turn: without its deadline, its cancellation and its asker.
pub(super) fn detached(cx: &ToolContext) -> ToolContext {
    let cx = cx.derive().without_deadline();
    let cx = cx.cancellation(CancellationToken::new()).build();
    cx.without_asker()
}

impl AgentRuntime {
    /// Begins a run of a thread in the background to answer a new message.
    pub(super) fn wake(&self, parent: &Arc<Run>) {
        let (runtime, parent) = (self.clone(), Arc::clone(parent));
        self.0
            .background
            .work(async move { runtime.drive_parent(&parent).await });
    }

    /// Returns whether the model of a sub-agent has read so many answers of its own sub-agents that further ones begin no session. The next message of
    /// its parent begins one. `messages` are those of its thread, and `read` is the sequence number of the last one that the model has read: answers
    /// that arrived together are all read, however many they are.
    pub(super) async fn has_read_enough(
        &self,
        run: &Run,
        messages: &[Message],
        read: u64,
    ) -> Result<bool, ToolError> {
        let Some(row) = &run.row else {
            return Ok(false);
        };
        let Some(agent) = self.index(&row.agent).map(|agent| self.entry(agent)) else {
            return Ok(false);
        };
        if agent.subagents.is_empty() {
            return Ok(false);
        }
        let is_report = |message: &&Message| child::is_report(&message.content);
        let reports: Vec<&Message> = if agent.session.partner.is_some() {
            // In the thread, a reply of the partner cannot be distinguished from a message of the parent, so the last message of the user counts.
            let mut top = run.base.clone();
            while let Some(above) = top.extension::<ParentThread>() {
                top = above.parent.base.clone();
            }
            let said = self.0.turns.messages(&top, None).await;
            let said = said.map_err(unavailable)?;
            let last = users(&said).find(|message| !is_report(message));
            let last = last.map(|message| message.at);
            let reports = users(messages).filter(is_report);
            reports
                .take_while(|message| last.is_none_or(|last| message.at > last))
                .collect()
        } else {
            reports_after_user(messages).collect()
        };
        let reports = reports.iter().filter(|message| message.seq <= read).count();
        let is_enough = reports >= MOST_WAKES;
        if is_enough {
            tracing::warn!(
                thread = %run.thread,
                "{reports} answers of sub-agents were read since the last message of the parent or of the user, so no session begins for further ones: the next session reads them"
            );
        }
        Ok(is_enough)
    }

    /// Does the same as [`has_read_enough`](Self::has_read_enough), for a sub-agent without an active session.
    async fn has_idle_read_enough(&self, run: &Run) -> Result<bool, ToolError> {
        let messages = self.0.turns.messages(&run.base, None).await;
        let messages = messages.map_err(unavailable)?;
        let last = self.0.turns.last(&run.base).await.map_err(unavailable)?;
        let read = last.map_or(0, |last| last.read());
        self.has_read_enough(run, &messages, read).await
    }

    /// Returns whether a sub-agent has no active session, and the next answer of one of its own sub-agents begins none.
    async fn stays_idle(&self, run: &Run, row: &ChildRow) -> Result<bool, ToolError> {
        let row = self
            .store()?
            .child(&row.thread)
            .await
            .map_err(unavailable)?;
        let is_idle = |row: ChildRow| matches!(row.state, ChildState::Idle | ChildState::Failed);
        Ok(row.is_some_and(is_idle) && self.has_idle_read_enough(run).await?)
    }

    async fn drive_parent(&self, parent: &Arc<Run>) {
        let Some(row) = &parent.row else {
            let first = self.entry(parent.first).name();
            let cx = detached(&parent.base);
            let messages = self.0.turns.messages(&cx, None).await;
            let wakes = messages.map_or(0, |messages| reports_after_user(&messages).count());
            if wakes > MOST_WAKES {
                tracing::warn!(
                    thread = %parent.thread,
                    "{wakes} answers of sub-agents arrived since the last message of the user, so no run begins for this one: the next run reads it"
                );
                return;
            }
            loop {
                match Box::pin(self.drive(first, &cx)).await {
                    // The active run may end before it reads the message.
                    Ok(Outcome::Busy(_)) => tokio::time::sleep(BUSY).await,
                    Ok(_) => return,
                    Err(error) => {
                        tracing::warn!(%error, thread = %parent.thread, "the answer of a sub-agent is stored, but its parent could not be driven");
                        return;
                    }
                }
            }
        };
        // The run of a prompt ends with its call, and the caller reads the stored messages.
        if row.kind != ChildKind::Subagent {
            return;
        }
        match self.has_idle_read_enough(parent).await {
            Ok(false) => {}
            Ok(true) => return,
            Err(error) => {
                tracing::warn!(%error, thread = %row.thread, "the answer of a sub-agent is stored, but the session that reads it could not be begun");
                return;
            }
        }
        let Ok(store) = self.store() else { return };
        let Ok(Some(row)) = store.child(&row.thread).await else {
            return;
        };
        let change = ChildChange {
            session: row.session,
            from: vec![ChildState::Idle, ChildState::Failed],
            to: ChildState::Running,
            at: Timestamp::now(),
        };
        match store.change_child(&row.thread, change).await {
            Ok(Some(row)) => self.session_of_parent(parent, row.thread),
            // The current session reads the message, or the thread is terminated.
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, thread = %row.thread, "the session of a sub-agent could not be begun");
            }
        }
    }
}
