//! The turn of a run: its conversation, its prompt, and the delivery of the answer.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use tool_core::store::{
    NewMessage, Role, StoreError, TaskRow, TaskRun, ThreadId, ThreadStore, Timestamp,
};
use tool_core::turn::{Model, Outcome, Turns, UserMessage};
use tool_core::{ErrorKind, ToolContext, ToolContextBuilder, ToolError, Toolset};

use super::runner::TaskDone;
use crate::human::{Outbound, OutboundChannel};

/// The maximum number of times that a run checks whether its conversation is free, and the pause between two checks: 5 minutes in total.
const MOST_LOOKS: u32 = 600;
const BUSY: Duration = Duration::from_millis(500);

/// A run of a task that a [`Scheduler`](super::Scheduler) has claimed.
#[derive(Clone, Debug)]
pub struct DueTask {
    row: TaskRow,
    run: TaskRun,
}

/// Returns the conversation of a run. It depends only on the task and, unless the task keeps its history, on the due time, so another
/// attempt continues it.
pub(super) fn conversation_of(row: &TaskRow, due: Timestamp) -> String {
    let id = row.id.id();
    if row.definition.keep_history {
        return format!("schedule/{id}");
    }
    format!("schedule/{id}/{}", due.as_millis())
}

impl DueTask {
    pub(super) fn new(row: TaskRow, run: TaskRun) -> Self {
        Self { row, run }
    }

    /// Returns the stored row of the task.
    pub fn row(&self) -> &TaskRow {
        &self.row
    }

    /// Returns the run with its due time, its conversation and its number of attempts.
    pub fn task_run(&self) -> &TaskRun {
        &self.run
    }

    /// Returns the due time, which identifies the run of the task.
    pub fn due(&self) -> Timestamp {
        self.run.due
    }

    /// Returns the number of the attempt; the first is 1.
    pub fn attempt(&self) -> u32 {
        self.run.attempts
    }

    /// Returns the conversation of the run. All attempts of a run have the same conversation, and so do all runs of a task that keeps its history.
    pub fn conversation(&self) -> &str {
        self.run.conversation.as_deref().unwrap_or_default()
    }

    /// Returns a builder of a context with the workspace, the user and the conversation of the run.
    pub fn context(&self) -> ToolContextBuilder {
        let builder = ToolContext::builder()
            .workspace(self.row.workspace().as_str())
            .conversation(self.conversation());
        match &self.row.principal {
            Some(user) => builder.user(user),
            None => builder,
        }
    }

    /// Drives the turn of the run: stores the prompt as a message of the user and drives the conversation until the model has answered. An attempt
    /// after a crash does not store the prompt again, and continues the interrupted turn.
    ///
    /// `cx` is made from [`context`](Self::context). `threads` is the store of `turns`. Returns [`TaskDone::Waiting`] if the turn waits, for example
    /// for an approval or for the client.
    ///
    /// The answer is sent through `channels`, if the task names a channel and the answer is not blank. The key of the message is the id of the task
    /// and the due time, so that a service that accepts such a key does not send an answer twice if the process dies between sending and storing the
    /// end of the run. An answer that a tool has sent already is not sent again.
    pub async fn drive<M: Model + ?Sized>(
        &self,
        turns: &Turns,
        threads: &dyn ThreadStore,
        model: &mut M,
        tools: impl Fn(&ToolContext) -> Toolset,
        channels: Option<&Arc<dyn OutboundChannel>>,
        cx: &ToolContext,
    ) -> Result<TaskDone, ToolError> {
        self.say_once(threads).await?;
        match drive_when_free(turns, model, tools, cx).await? {
            Outcome::Answered(text) | Outcome::Length(text) | Outcome::Filtered(text) => {
                self.deliver(&text, channels, cx).await?;
                Ok(TaskDone::Succeeded)
            }
            Outcome::Guardrail(tripped) => {
                self.deliver(&tripped.text, channels, cx).await?;
                Ok(TaskDone::Succeeded)
            }
            Outcome::Replied(_) => Ok(TaskDone::Succeeded),
            Outcome::Waiting(_) => Ok(waiting("an approval")),
            Outcome::Client(_) => Ok(waiting("the client")),
            Outcome::Lacking(_) => Ok(waiting("variables")),
            Outcome::Unsettled(_) => Ok(waiting(
                "an operator, because the outcome of a call is unknown",
            )),
            other => {
                let cause = other.cause().map_or("busy", |cause| cause.as_str());
                Err(failed(format_args!("the turn ended early: {cause}")))
            }
        }
    }

    /// Stores the prompt, unless an earlier attempt has stored it. The time of the message is the due time, so that a later attempt finds it.
    async fn say_once(&self, threads: &dyn ThreadStore) -> Result<(), ToolError> {
        let thread = ThreadId::new(self.row.workspace(), self.conversation())?;
        let due = self.due();
        if threads
            .message_at(&thread, Role::User, due)
            .await?
            .is_some()
        {
            return Ok(());
        }
        let prompt = UserMessage::from(&self.row.definition.prompt);
        prompt.check()?;
        let content = serde_json::to_string(&prompt)
            .map_err(|error| StoreError::Corrupt(error.to_string()))?;
        let message = NewMessage {
            thread,
            role: Role::User,
            answers: None,
            follows: None,
            content,
            at: due,
        };
        threads.append(message).await?;
        Ok(())
    }

    async fn deliver(
        &self,
        text: &str,
        channels: Option<&Arc<dyn OutboundChannel>>,
        cx: &ToolContext,
    ) -> Result<(), ToolError> {
        let definition = &self.row.definition;
        if text.trim().is_empty() {
            return Ok(());
        }
        let (Some(channel), Some(target)) =
            (&definition.outbound_channel, &definition.outbound_target)
        else {
            return Ok(());
        };
        let service = channels.ok_or_else(|| {
            ToolError::unavailable(format_args!("the outbound channel `{channel}` of the task"))
        })?;
        let key = format!("{}/{}", self.row.id.id(), self.due().as_millis());
        Outbound::shared(Arc::clone(service), channel, target)
            .send(text, key, cx)
            .await
    }
}

/// Drives a conversation. If another drive has the lease of the conversation, for example in a process that died during the last attempt, waits for
/// the end of this lease, and fails after 5 minutes.
async fn drive_when_free<M: Model + ?Sized>(
    turns: &Turns,
    model: &mut M,
    tools: impl Fn(&ToolContext) -> Toolset,
    cx: &ToolContext,
) -> Result<Outcome, ToolError> {
    for _ in 0..MOST_LOOKS {
        match turns.drive(model, &tools, cx).await? {
            Outcome::Busy(_) => tokio::time::sleep(BUSY).await,
            outcome => return Ok(outcome),
        }
    }
    Err(failed(
        "another drive of the conversation did not end within 5 minutes",
    ))
}

fn waiting(what: &str) -> TaskDone {
    TaskDone::Waiting(format!("the turn waits for {what}"))
}

fn failed(text: impl Display) -> ToolError {
    ToolError::of(ErrorKind::Failed, text.to_string())
}
