//! Rooms: the backlog of events that an agent processes, and the history of the messages between people and the agent.

use serde::{Deserialize, Serialize};

use super::{StoreError, StoreFuture, ThreadId, Timestamp, Workspace, words};

/// The state of an event in the backlog of a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoomEventState {
    /// No turn has taken the event, or a turn has returned it.
    Pending,
    /// A turn of the agent has taken the event, and has not completed it.
    Processing,
    /// The agent has completed the event.
    Completed,
}

words!(RoomEventState { Pending = "pending", Processing = "processing", Completed = "completed", });

/// An event for the backlog of a room, such as a message of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRoomEvent {
    /// The conversation of the room.
    pub room: ThreadId,
    /// The id of the event in the room, which the host chooses. An event that is delivered twice has the same id.
    pub id: String,
    /// The person who caused the event; `None` for an event without an author.
    pub author: Option<String>,
    /// The content of the event.
    pub text: String,
    /// When the event arrived.
    pub at: Timestamp,
}

/// A stored event of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoomEvent {
    /// The conversation of the room.
    pub room: ThreadId,
    /// The number of the event in the room. Later events have larger numbers.
    pub seq: u64,
    /// The id of the event in the room.
    pub id: String,
    /// The person who caused the event; `None` for an event without an author.
    pub author: Option<String>,
    /// The content of the event.
    pub text: String,
    /// The state of the event.
    pub state: RoomEventState,
    /// The notes of the agent that completed the event.
    pub notes: Option<String>,
    /// When the event arrived.
    pub created: Timestamp,
    /// When the state was last changed.
    pub updated: Timestamp,
}

/// A message for the history of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRoomMessage {
    /// The conversation of the room.
    pub room: ThreadId,
    /// Identifies the message in the room. A message that is written twice, for example after a crash, has the same key and is stored once.
    pub key: String,
    /// The person who wrote the message; `None` for a message of the agent.
    pub author: Option<String>,
    /// The text of the message.
    pub text: String,
    /// When the message was written.
    pub at: Timestamp,
}

/// A stored message of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoomMessage {
    /// The conversation of the room.
    pub room: ThreadId,
    /// The number of the message in the room. Later messages have larger numbers.
    pub seq: u64,
    /// The key of the message; `None` for a summary.
    pub key: Option<String>,
    /// The person who wrote the message; `None` for a message of the agent and for a summary.
    pub author: Option<String>,
    /// The text of the message.
    pub text: String,
    /// Whether the message is the summary of removed messages.
    pub is_summary: bool,
    /// When the message was written.
    pub at: Timestamp,
}

/// The replacement of the first messages of a room with a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoomCompaction {
    /// The conversation of the room.
    pub room: ThreadId,
    /// The number of the last message that the summary replaces. The summary gets this number.
    pub through: u64,
    /// The number of messages that the summary replaces, as the author of the summary has read them.
    pub messages: u64,
    /// The text of the summary.
    pub summary: String,
    /// When the summary was written.
    pub at: Timestamp,
}

/// A room, with the numbers of its events and messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoomSummary {
    /// The conversation of the room.
    pub room: ThreadId,
    /// The number of [pending](RoomEventState::Pending) events.
    pub pending: u64,
    /// The number of [processing](RoomEventState::Processing) events.
    pub processing: u64,
    /// The number of [completed](RoomEventState::Completed) events.
    pub completed: u64,
    /// The number of messages in the history. A summary counts as a message.
    pub messages: u64,
    /// When an event or a message was last stored or changed.
    pub updated: Timestamp,
}

impl RoomSummary {
    /// Creates the entry of a room, with all numbers 0, for authors of a store.
    pub fn new(room: ThreadId) -> Self {
        Self {
            room,
            pending: 0,
            processing: 0,
            completed: 0,
            messages: 0,
            updated: Timestamp::from_millis(i64::MIN),
        }
    }

    /// Adds events with the state `state`. `updated` is the time of the last change of one of them.
    pub fn add_events(&mut self, state: RoomEventState, events: u64, updated: Timestamp) {
        match state {
            RoomEventState::Pending => self.pending += events,
            RoomEventState::Processing => self.processing += events,
            RoomEventState::Completed => self.completed += events,
        }
        self.updated = self.updated.max(updated);
    }

    /// Adds messages. `at` is the time of the last one.
    pub fn add_messages(&mut self, messages: u64, at: Timestamp) {
        self.messages += messages;
        self.updated = self.updated.max(at);
    }
}

/// A filter for the events of a room.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoomEventFilter {
    /// Only events in this state.
    pub state: Option<RoomEventState>,
    /// The cursor: only events with a larger [`seq`](RoomEvent::seq).
    pub after: u64,
    /// The maximum number of events.
    pub limit: Option<u32>,
}

impl NewRoomEvent {
    /// Checks the conditions of [`RoomStore::add_room_event`] that do not depend on stored rows: fails with `Conflict` if the id is empty, or if the
    /// id or the author contains a NUL character.
    pub fn check(&self) -> Result<(), StoreError> {
        check_key(&self.id, "the id of an event", &self.room)?;
        check_author(self.author.as_deref(), "an event", &self.room)
    }

    /// Returns the event as it is stored.
    pub fn numbered(self, seq: u64) -> RoomEvent {
        RoomEvent {
            room: self.room,
            seq,
            id: self.id,
            author: self.author,
            text: self.text,
            state: RoomEventState::Pending,
            notes: None,
            created: self.at,
            updated: self.at,
        }
    }
}

impl NewRoomMessage {
    /// Checks the conditions of [`RoomStore::add_room_message`] that do not depend on stored rows: fails with `Conflict` if the key is empty, or if
    /// the key or the author contains a NUL character.
    pub fn check(&self) -> Result<(), StoreError> {
        check_key(&self.key, "the key of a message", &self.room)?;
        check_author(self.author.as_deref(), "a message", &self.room)
    }

    /// Returns the message as it is stored.
    pub fn numbered(self, seq: u64) -> RoomMessage {
        RoomMessage {
            room: self.room,
            seq,
            key: Some(self.key),
            author: self.author,
            text: self.text,
            is_summary: false,
            at: self.at,
        }
    }
}

impl RoomCompaction {
    /// Fails with `Stale` unless `messages`, the number of stored messages to replace, is the number that the author of the summary has read, and not
    /// 0.
    pub fn check(&self, messages: u64) -> Result<(), StoreError> {
        if messages == self.messages && messages > 0 {
            return Ok(());
        }
        Err(StoreError::Stale(format!(
            "the messages that the summary of room {} replaces have changed or do not exist: read the messages again",
            self.room
        )))
    }

    /// Returns the summary as it is stored.
    pub fn into_message(self) -> RoomMessage {
        RoomMessage {
            room: self.room,
            seq: self.through,
            key: None,
            author: None,
            text: self.summary,
            is_summary: true,
            at: self.at,
        }
    }
}

fn check_key(key: &str, what: &str, room: &ThreadId) -> Result<(), StoreError> {
    if key.is_empty() || key.contains('\0') {
        return Err(StoreError::Conflict(format!(
            "{what} of room {room} is empty or contains a NUL character: use the id that the channel gave it"
        )));
    }
    Ok(())
}

fn check_author(author: Option<&str>, what: &str, room: &ThreadId) -> Result<(), StoreError> {
    if author.is_some_and(|author| author.contains('\0')) {
        return Err(StoreError::Conflict(format!(
            "the author of {what} of room {room} contains a NUL character: remove it"
        )));
    }
    Ok(())
}

/// A store of rooms. A room is a conversation that people and other systems write to at any time.
///
/// Each incoming message is stored as an event in the backlog. A turn of the agent takes events, and completes or returns each of them. The
/// history of the room is separate from the backlog: it contains the messages of both sides. The first messages can be replaced with a summary.
///
/// ```
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, at) = (MemoryStore::default(), Timestamp::now());
/// let room = ThreadId::new("acme", "support")?;
/// let event = NewRoomEvent { room: room.clone(), id: "m-1".into(), author: Some("ann".into()), text: "Hello?".into(), at };
/// assert!(store.add_room_event(event.clone()).await?);
/// assert!(!store.add_room_event(event).await?, "the event is delivered twice");
///
/// let taken = store.take_room_events(&room, 10, at).await?;
/// assert_eq!(taken[0].text, "Hello?");
/// let ids = ["m-1".to_owned(), "m-2".to_owned()];
/// assert_eq!(store.complete_room_events(&room, &ids, None, at).await?, 1);
/// # Ok(())
/// # }
/// ```
#[doc(alias("inbox", "backlog"))]
pub trait RoomStore: Send + Sync + 'static {
    /// Adds an event to the backlog. Returns false, and changes nothing, if the room has an event with this id. Fails with `Conflict` if
    /// [`NewRoomEvent::check`] refuses it.
    fn add_room_event(&self, event: NewRoomEvent) -> StoreFuture<'_, bool>;

    /// Marks the first pending events of a room as processing, at most `limit`, and returns them in order. If turns in several processes take events
    /// at the same time, each event is returned to only one of them.
    fn take_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        limit: u32,
        at: Timestamp,
    ) -> StoreFuture<'a, Vec<RoomEvent>>;

    /// Marks events of a room as completed, with notes. Only events that are processing are changed. Returns the number of changed events.
    /// The store does not record which turn has taken an event, so a caller completes only the events that it has taken.
    fn complete_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        ids: &'a [String],
        notes: Option<&'a str>,
        at: Timestamp,
    ) -> StoreFuture<'a, u64>;

    /// Marks events of a room as pending again, for a turn that has taken them and cannot complete them. Only events that are processing are changed.
    /// Returns the number of changed events. A caller returns only the events that it has taken, because another turn may be processing the others.
    fn return_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        ids: &'a [String],
        at: Timestamp,
    ) -> StoreFuture<'a, u64>;

    /// Lists events of a room, in order.
    fn room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        filter: &'a RoomEventFilter,
    ) -> StoreFuture<'a, Vec<RoomEvent>>;

    /// Adds a message to the history of a room, and returns its number. If the room has a message with this key, nothing is changed, and the number
    /// of that message is returned. Fails with `Conflict` if [`NewRoomMessage::check`] refuses it.
    fn add_room_message(&self, message: NewRoomMessage) -> StoreFuture<'_, u64>;

    /// Returns the history of a room, in order.
    fn room_messages<'a>(&'a self, room: &'a ThreadId) -> StoreFuture<'a, Vec<RoomMessage>>;

    /// Returns a page of the history of a room, in order: at most `limit` messages with a larger number than `after`, which is 0 for the first page.
    fn room_message_page<'a>(
        &'a self,
        room: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<RoomMessage>>;

    /// Returns the rooms of a workspace, ordered by conversation: at most `limit`, and only rooms after the conversation `after`. A conversation is a
    /// room if it has an event or a message.
    fn rooms<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<RoomSummary>>;

    /// Removes the events and the messages of a room. Returns whether there were any.
    fn remove_room<'a>(&'a self, room: &'a ThreadId) -> StoreFuture<'a, bool>;

    /// Replaces the first messages of a room with a summary. Fails with `Stale` if [`RoomCompaction::check`] refuses the number of messages that it
    /// replaces.
    fn compact_room(&self, compaction: RoomCompaction) -> StoreFuture<'_, ()>;
}
