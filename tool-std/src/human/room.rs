//! The tools of rooms: messages to people, completed events, and the compaction of the history.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{
    NewRoomMessage, RoomCompaction, RoomMessage, RoomStore, ThreadId, Timestamp,
};
use tool_core::{Effect, host_value};

use super::channel::{Outbound, message_key};

/// Writes a summary of messages of a room. Hosts implement this trait, for example with a model. A host that adds a summarizer allows compactions of the
/// room without the approval of a person.
pub trait Summarizer: Send + Sync + 'static {
    /// Returns a summary that replaces the messages. The first of them may be an earlier summary.
    fn summarize<'a>(
        &'a self,
        messages: &'a [RoomMessage],
    ) -> BoxFuture<'a, Result<String, ToolError>>;
}

/// The room of a turn, as a host value of its tools. The conversation of the context is the room.
#[derive(Clone)]
pub struct Room {
    store: Arc<dyn RoomStore>,
    outbound: Option<Outbound>,
    summarizer: Option<Arc<dyn Summarizer>>,
}

host_value!(Room, Effect::READ.union(Effect::WRITE));

impl Room {
    /// Creates the value with the store of the rooms.
    pub fn new(store: impl RoomStore) -> Self {
        Self {
            store: Arc::new(store),
            outbound: None,
            summarizer: None,
        }
    }

    /// Sets the channel and the address that [`send_message_to_human`](fn@send_message_to_human) sends to.
    #[must_use]
    pub fn outbound(mut self, outbound: Outbound) -> Self {
        self.outbound = Some(outbound);
        self
    }

    /// Sets the summarizer of [`compact_room_history`](fn@compact_room_history).
    #[must_use]
    pub fn summarizer(mut self, summarizer: impl Summarizer) -> Self {
        self.summarizer = Some(Arc::new(summarizer));
        self
    }
}

impl fmt::Debug for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Room")
            .field("outbound", &self.outbound)
            .field("has_summarizer", &self.summarizer.is_some())
            .finish_non_exhaustive()
    }
}

/// Returns the id of the room: the conversation of the context.
fn own_room(cx: &ToolContext) -> Result<ThreadId, ToolError> {
    cx.thread()
        .ok_or_else(|| ToolError::unavailable("the conversation of the room"))
}

/// The address that a message was sent to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct SentMessage {
    /// The name of the channel.
    pub channel: String,
    /// The address in the channel.
    pub target: String,
}

/// Sends a message to the people of this room. They read only what you send with this tool.
#[tool(
    category = "room",
    harness,
    open_world,
    example("A question to the team", { "message": "May I restart the server?" }),
)]
pub async fn send_message_to_human(
    cx: &ToolContext,
    room: &Room,
    /// The text to send.
    #[arg(length = 1..=20000)]
    message: String,
) -> Result<SentMessage, ToolError> {
    let id = own_room(cx)?;
    let outbound = room.outbound.as_ref().ok_or_else(|| {
        ToolError::unavailable("the outbound channel of the room (`Room::outbound`)")
    })?;
    let key = message_key(cx);
    outbound.send(&message, &key, cx).await?;
    let message = NewRoomMessage {
        room: id,
        key,
        author: None,
        text: message,
        at: Timestamp::now(),
    };
    let added = room.store.add_room_message(message).await;
    added.map_err(|error| {
        let text =
            "the message was sent, but it is not in the history of the room: do not send it again";
        ToolError::new(text).operator(error.to_string())
    })?;
    Ok(SentMessage {
        channel: outbound.channel().to_owned(),
        target: outbound.target().to_owned(),
    })
}

/// The number of events that a call has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct CompletedEvents {
    /// The number of events that this call has completed, without events that no turn has taken, that were completed before or that do not exist.
    pub completed_count: u64,
}

/// Marks events of this room as completed. Call it when you have done what an event asks for, or if there is nothing to do.
#[tool(
    category = "room",
    harness,
    idempotent,
    example("Two events that one answer has completed", { "event_ids": ["m-17", "m-18"], "notes": "Answered both." }),
)]
pub async fn mark_room_event_completed(
    cx: &ToolContext,
    room: &Room,
    /// The ids of the events.
    #[arg(min_items = 1, max_items = 100)]
    event_ids: Vec<String>,
    /// What was done, for the people who supervise the room.
    #[arg(length = 0..=4000)]
    notes: Option<String>,
) -> Result<CompletedEvents, ToolError> {
    let (id, at) = (own_room(cx)?, Timestamp::now());
    let completed = room
        .store
        .complete_room_events(&id, &event_ids, notes.as_deref(), at);
    Ok(CompletedEvents {
        completed_count: completed.await?,
    })
}

/// The result of a compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct CompactedHistory {
    /// How many messages the summary has replaced; 0 if there was nothing to compact.
    pub compacted_messages: u64,
    /// How many messages are kept in addition to the summary.
    pub kept_messages: u64,
}

/// Replaces the older messages of this room by a summary. The messages cannot be restored. Call it if the history of the room is long.
#[tool(
    category = "room",
    harness,
    destructive,
    // A host that adds a `Summarizer` to the room thereby decides that a compaction needs no approval of a person.
    approval = |_call, _cx| false,
    example("Keeps the last 10 messages", {}),
    example("Keeps only the last message", { "keep_recent": 1 }),
)]
pub async fn compact_room_history(
    cx: &ToolContext,
    room: &Room,
    /// How many of the latest messages to keep.
    #[arg(default = 10, range = 0..=1000)]
    keep_recent: u32,
) -> Result<CompactedHistory, ToolError> {
    let id = own_room(cx)?;
    let summarizer = room
        .summarizer
        .as_ref()
        .ok_or_else(|| ToolError::unavailable("the summarizer of the room (`Room::summarizer`)"))?;
    let messages = room.store.room_messages(&id).await?;
    let keep = usize::try_from(keep_recent).unwrap_or(usize::MAX);
    let replaced = &messages[..messages.len().saturating_sub(keep)];
    let [.., last] = replaced else {
        return Ok(history(0, messages.len()));
    };
    // A summary alone is not summarized again.
    if replaced.iter().all(|message| message.is_summary) {
        return Ok(history(0, messages.len() - replaced.len()));
    }
    let summary = summarizer.summarize(replaced).await?;
    if summary.trim().is_empty() {
        return Err(ToolError::new(
            "the summary is empty, so no message was removed: try again later",
        ));
    }
    let compaction = RoomCompaction {
        room: id,
        through: last.seq,
        messages: u64::try_from(replaced.len()).unwrap_or(u64::MAX),
        summary,
        at: Timestamp::now(),
    };
    room.store.compact_room(compaction).await?;
    Ok(history(replaced.len(), messages.len() - replaced.len()))
}

fn history(compacted: usize, kept: usize) -> CompactedHistory {
    let count = |number| u64::try_from(number).unwrap_or(u64::MAX);
    CompactedHistory {
        compacted_messages: count(compacted),
        kept_messages: count(kept),
    }
}
