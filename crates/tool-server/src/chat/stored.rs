//! The stream of messages that are stored: the earlier part of a message, and the runs of other processes.

use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::time::Instant;
use tool_agent::runtime::EventReader;
use tool_core::store::{Message, Role, RunCause, RunId, RunRow, RunState, Timestamp};
use tool_core::turn::{ModelMessage, ToolMessage, TurnError, Turns};
use tool_core::{ToolContext, Toolset};
use tool_wire::ui::{Chunk, Writer};

use super::driver::Driver;
use super::reply::Reply;
use super::{Room, Shared, WHAT, of_turn};
use crate::problem::Problem;

/// The interval at which the messages of a run in another process are read.
const POLL: Duration = Duration::from_millis(500);
/// The time after which the stream of a run fails if the lease of the run has expired and no process has taken the run over.
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

/// Passes the messages after a sequence number to the writer, up to the next message of the user, which begins a different run.
pub(super) fn show(writer: &mut Writer, messages: &[Message], after: u64) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let new = messages.iter().skip_while(|message| message.seq <= after);
    for message in new.take_while(|message| message.role != Role::User) {
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

/// The source of the contents of a run in another process.
enum Source {
    /// The messages of the thread, after a sequence number.
    Messages(u64),
    /// The stored events of the agents, and the interval at which they are read. Events before the user's last message belong to earlier messages of the
    /// interface, and events after the user's next message to later messages.
    Events {
        reader: EventReader,
        user: u64,
        has_ended: bool,
        interval: Duration,
    },
}

impl Source {
    /// Returns the interval at which the source is read.
    fn interval(&self) -> Duration {
        match self {
            Self::Messages(_) => POLL,
            Self::Events { interval, .. } => *interval,
        }
    }

    /// Writes everything new to the stream.
    async fn read(
        &mut self,
        turns: &Turns,
        cx: &ToolContext,
        reply: &Weak<Reply>,
    ) -> Result<(), TurnError> {
        match self {
            Self::Messages(read) => {
                let messages = turns.messages(cx, Some(*read)).await?;
                if let Some(reply) = reply.upgrade() {
                    reply.write(|writer| Ok(show(writer, &messages, *read)));
                }
                let new = messages
                    .iter()
                    .take_while(|message| message.role != Role::User);
                *read = new.last().map_or(*read, |message| message.seq);
            }
            Self::Events {
                reader,
                user,
                has_ended,
                ..
            } => {
                while !*has_ended {
                    let read = reader.read().await?;
                    if read.is_empty() {
                        break;
                    }
                    let Some(reply) = reply.upgrade() else { break };
                    for read in read.iter().filter(|read| read.cursor.message() >= *user) {
                        if read.user > *user {
                            *has_ended = true;
                            break;
                        }
                        reply.event(&read.event);
                    }
                }
            }
        }
        Ok(())
    }
}

/// Returns a stream of a run in another process, from its messages as they are stored, or from the stored events of the agents, which have the pieces of
/// the message that the model is writing. Polling ends when the run ends or is abandoned, when the store fails, or when no client reads.
pub(super) async fn follow(chat: &Shared, run: RunId, room: Room) -> Result<Arc<Reply>, Problem> {
    let Room { thread, cx, .. } = room;
    let tools = chat.driver.tools(&cx)?;
    let messages = chat.driver.turns().messages(&cx, None).await;
    let messages = messages.map_err(of_turn)?;
    let user = last_of_user(&messages);
    let mut view = chat.driver.view(&tools, &thread);
    let start = view.start(Some(&message_id(user)));
    let (source, earlier) = match chat.driver.events() {
        None => (Source::Messages(user), Vec::new()),
        Some(events) => {
            let cursor = events.last_run(&thread).await;
            let cursor = cursor.map_err(|error| Problem::of_store(&error, WHAT))?;
            let before = messages.partition_point(|message| message.seq <= cursor.message());
            let earlier = show(view.writer(), &messages[..before], user);
            let reader = events.reader(&thread, cursor);
            let source = Source::Events {
                reader,
                user,
                has_ended: false,
                interval: events.poll_interval(),
            };
            (source, earlier)
        }
    };
    let reply = Reply::new(view, &start, &earlier);
    let weak = Arc::downgrade(&reply);
    tokio::spawn(poll(Arc::clone(chat), run, cx, tools, source, weak));
    Ok(reply)
}

async fn poll(
    chat: Shared,
    run: RunId,
    cx: ToolContext,
    tools: Toolset,
    mut source: Source,
    weak: Weak<Reply>,
) {
    let turns = chat.driver.turns();
    let mut expired = None;
    loop {
        let next = Instant::now() + source.interval();
        // The row is read before the contents, so that the contents of a run that has ended are complete.
        let row = turns.run_row(&run).await;
        let read = source.read(turns, &cx, &weak).await;
        let Some(reply) = weak.upgrade() else { return };
        let (Ok(row), Ok(())) = (row, read) else {
            reply.fail();
            return;
        };
        if let Some(cause) = ended(row.as_ref()) {
            finish(&reply, cause, &chat.driver, &cx, &tools).await;
            return;
        }
        // Another process may take over a run whose lease has expired. If none does in time, the stream fails.
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
}

/// Returns the cause of the end of a run; `None` while the run continues. A run whose row was removed counts as failed.
fn ended(row: Option<&RunRow>) -> Option<RunCause> {
    match row {
        Some(row) if row.state == RunState::Running => None,
        Some(row) => Some(row.cause.unwrap_or(RunCause::Failed)),
        None => Some(RunCause::Failed),
    }
}

async fn finish(
    reply: &Reply,
    cause: RunCause,
    driver: &Driver,
    cx: &ToolContext,
    tools: &Toolset,
) {
    match cause {
        RunCause::Failed => return reply.fail(),
        RunCause::Cancelled => reply.write(|writer| Ok(writer.abort())),
        _ => {
            if cause == RunCause::Waiting {
                match driver.waiting(cx, tools).await {
                    Ok(tickets) => reply.ask(tickets),
                    Err(_) => {
                        tracing::warn!("approval requests cannot be shown to the client");
                    }
                }
            }
            reply.write(|writer| Ok(writer.finish()));
        }
    }
    reply.close();
}
