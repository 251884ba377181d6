//! The stream of messages that are stored: the earlier part of a message, and the runs of other processes.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tool_core::store::{Message, Role, RunCause, RunId, RunRow, RunState, Timestamp};
use tool_core::turn::{ModelMessage, ToolMessage, Turns};
use tool_core::{ToolContext, Toolset};
use tool_wire::ui::{Chunk, Writer};

use super::reply::Reply;

/// The interval at which the messages of a run in another process are read.
const POLL: Duration = Duration::from_millis(500);
/// How long a run may be without a driver before its stream fails. Its lease has expired then, and no process has taken it over.
const ABANDONED: Duration = Duration::from_secs(30);

/// Returns the id of the assistant's message that follows a message of the user.
pub(super) fn message_id(user: u64) -> String {
    format!("answer-{user}")
}

/// Returns the sequence number of the last message of the user; 0 if there is none.
pub(super) fn last_of_user(messages: &[Message]) -> u64 {
    let mut users = messages.iter().rev();
    users
        .find(|message| message.role == Role::User)
        .map_or(0, |message| message.seq)
}

/// Passes the messages after a sequence number to the writer.
pub(super) fn show(writer: &mut Writer, messages: &[Message], after: u64) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    for message in messages.iter().filter(|message| message.seq > after) {
        let shown = match message.role {
            Role::Assistant => match serde_json::from_str::<ModelMessage>(&message.content) {
                Ok(said) => {
                    chunks.extend(writer.step());
                    writer.message(&said)
                }
                Err(error) => {
                    tracing::warn!(%error, seq = message.seq, "a stored message cannot be shown");
                    continue;
                }
            },
            Role::Tool => match serde_json::from_str::<ToolMessage>(&message.content) {
                Ok(result) => writer.stored(&result),
                Err(error) => {
                    tracing::warn!(%error, seq = message.seq, "a stored result cannot be shown");
                    continue;
                }
            },
            Role::System | Role::User => continue,
        };
        match shown {
            Ok(shown) => chunks.extend(shown),
            Err(error) => {
                tracing::warn!(%error, seq = message.seq, "a stored message cannot be shown");
            }
        }
    }
    chunks
}

/// Returns a stream of a run in another process: its messages as they are stored, without the pieces of the message that the model is writing.
/// Polling ends with the run, or when no client reads.
///
/// `messages` are the messages of the conversation.
pub(super) fn follow(
    turns: Turns,
    run: RunId,
    cx: ToolContext,
    tools: Toolset,
    messages: &[Message],
) -> Arc<Reply> {
    let mut writer = Writer::new(&tools);
    let mut read = last_of_user(messages);
    let start = writer.start(Some(&message_id(read)));
    let reply = Reply::new(writer, &start, &[]);
    let weak = Arc::downgrade(&reply);
    tokio::spawn(async move {
        let mut expired = None;
        loop {
            let next = Instant::now() + POLL;
            // The row is read before the messages, so that the messages of a run that has ended are complete.
            let row = turns.run_row(&run).await;
            let messages = turns.messages(&cx, Some(read)).await;
            let Some(reply) = weak.upgrade() else { return };
            let (Ok(row), Ok(messages)) = (row, messages) else {
                reply.fail();
                return;
            };
            reply.write(|writer| Ok(show(writer, &messages, read)));
            read = messages.last().map_or(read, |message| message.seq);
            if let Some(cause) = ended(row.as_ref()) {
                finish(&reply, cause, &cx, &tools).await;
                return;
            }
            // Another process may take over a run whose lease has expired. If none does, the driver is dead.
            let is_held = row
                .as_ref()
                .is_some_and(|row| row.is_held(Timestamp::now()));
            expired = if is_held {
                None
            } else {
                expired.or(Some(next))
            };
            if expired.is_some_and(|since| since.elapsed() > ABANDONED) {
                reply.fail();
                return;
            }
            drop(reply);
            tokio::time::sleep_until(next).await;
        }
    });
    reply
}

/// Returns the cause of the end of a run; `None` while the run continues. A run whose row was removed counts as failed.
fn ended(row: Option<&RunRow>) -> Option<RunCause> {
    match row {
        Some(row) if row.state == RunState::Running => None,
        Some(row) => Some(row.cause.unwrap_or(RunCause::Failed)),
        None => Some(RunCause::Failed),
    }
}

async fn finish(reply: &Reply, cause: RunCause, cx: &ToolContext, tools: &Toolset) {
    match cause {
        RunCause::Failed => return reply.fail(),
        RunCause::Cancelled => reply.write(|writer| Ok(writer.abort())),
        _ => {
            let approvals = tools.gate().and_then(|gate| gate.approvals());
            if let (RunCause::Waiting, Some(approvals), Some(thread)) =
                (cause, approvals, cx.thread())
            {
                match approvals.waiting(&thread).await {
                    Ok(tickets) => tickets
                        .iter()
                        .for_each(|ticket| reply.write(|writer| writer.ask(ticket))),
                    Err(error) => {
                        tracing::warn!(%error, "approval requests cannot be shown to the client");
                    }
                }
            }
            reply.write(|writer| Ok(writer.finish()));
        }
    }
    reply.close();
}
