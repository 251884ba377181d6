//! In-memory store of rooms.

use std::collections::BTreeMap;

use super::{MemoryStore, Tables, count, limited};
use crate::store::{
    NewRoomEvent, NewRoomMessage, RoomCompaction, RoomEvent, RoomEventFilter, RoomEventState,
    RoomMessage, RoomStore, RoomSummary, StoreError, StoreFuture, ThreadId, Timestamp, Workspace,
};

#[derive(Default)]
pub(super) struct Rooms(BTreeMap<ThreadId, Room>);

#[derive(Default)]
struct Room {
    events: Vec<RoomEvent>,
    messages: Vec<RoomMessage>,
}

impl Room {
    fn is_empty(&self) -> bool {
        self.events.is_empty() && self.messages.is_empty()
    }

    fn summary(&self, id: &ThreadId) -> RoomSummary {
        let mut summary = RoomSummary::new(id.clone());
        for event in &self.events {
            summary.add_events(event.state, 1, event.updated);
        }
        for message in &self.messages {
            summary.add_messages(1, message.at);
        }
        summary
    }
}

impl Rooms {
    /// Removes a room. Returns whether it had events or messages.
    pub(super) fn remove(&mut self, room: &ThreadId) -> bool {
        let removed = self.0.remove(room);
        removed.is_some_and(|room| !room.is_empty())
    }

    /// Removes the events and messages of a user.
    pub(super) fn erase_user(&mut self, workspace: &Workspace, user: &str) {
        let rooms = self.0.iter_mut();
        for (_, room) in rooms.filter(|(id, _)| id.workspace() == workspace) {
            room.events
                .retain(|event| event.author.as_deref() != Some(user));
            room.messages
                .retain(|message| message.author.as_deref() != Some(user));
        }
    }

    fn events(
        &mut self,
        room: &ThreadId,
        state: RoomEventState,
    ) -> impl Iterator<Item = &mut RoomEvent> {
        let room = self.0.get_mut(room).into_iter();
        let events = room.flat_map(|room| &mut room.events);
        events.filter(move |event| event.state == state)
    }
}

impl Tables {
    fn add_room_event(&mut self, event: NewRoomEvent) -> Result<bool, StoreError> {
        event.check()?;
        let events = &mut self.rooms.0.entry(event.room.clone()).or_default().events;
        if events.iter().any(|known| known.id == event.id) {
            return Ok(false);
        }
        let last = events.last().map_or(0, |last| last.seq);
        events.push(event.numbered(last + 1));
        Ok(true)
    }

    fn take_room_events(&mut self, room: &ThreadId, limit: u32, at: Timestamp) -> Vec<RoomEvent> {
        let pending = self.rooms.events(room, RoomEventState::Pending);
        let taken = pending.take(limited(Some(limit))).map(|event| {
            (event.state, event.updated) = (RoomEventState::Processing, at);
            event.clone()
        });
        taken.collect()
    }

    fn complete_room_events(
        &mut self,
        room: &ThreadId,
        ids: &[String],
        notes: Option<&str>,
        at: Timestamp,
    ) -> u64 {
        let events = self.rooms.events(room, RoomEventState::Processing);
        let completed = events.filter(|event| ids.contains(&event.id)).map(|event| {
            (event.state, event.updated) = (RoomEventState::Completed, at);
            event.notes = notes.map(str::to_owned);
        });
        count(completed.count())
    }

    fn return_room_events(&mut self, room: &ThreadId, ids: &[String], at: Timestamp) -> u64 {
        let events = self.rooms.events(room, RoomEventState::Processing);
        let returned = events.filter(|event| ids.contains(&event.id)).map(|event| {
            (event.state, event.updated) = (RoomEventState::Pending, at);
        });
        count(returned.count())
    }

    fn add_room_message(&mut self, message: NewRoomMessage) -> Result<u64, StoreError> {
        message.check()?;
        let room = self.rooms.0.entry(message.room.clone()).or_default();
        let mut messages = room.messages.iter();
        if let Some(known) = messages.find(|known| known.key.as_ref() == Some(&message.key)) {
            return Ok(known.seq);
        }
        let seq = room.messages.last().map_or(0, |last| last.seq) + 1;
        room.messages.push(message.numbered(seq));
        Ok(seq)
    }

    fn compact_room(&mut self, compaction: RoomCompaction) -> Result<(), StoreError> {
        let room = self.rooms.0.get_mut(&compaction.room);
        let replaced = room.as_ref().map_or(0, |room| {
            let messages = room.messages.iter();
            messages
                .filter(|message| message.seq <= compaction.through)
                .count()
        });
        compaction.check(count(replaced))?;
        if let Some(room) = room {
            room.messages.drain(..replaced);
            room.messages.insert(0, compaction.into_message());
        }
        Ok(())
    }
}

impl RoomStore for MemoryStore {
    fn add_room_event(&self, event: NewRoomEvent) -> StoreFuture<'_, bool> {
        self.step(move |tables| tables.add_room_event(event))
    }

    fn take_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        limit: u32,
        at: Timestamp,
    ) -> StoreFuture<'a, Vec<RoomEvent>> {
        self.step(move |tables| Ok(tables.take_room_events(room, limit, at)))
    }

    fn complete_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        ids: &'a [String],
        notes: Option<&'a str>,
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.complete_room_events(room, ids, notes, at)))
    }

    fn return_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        ids: &'a [String],
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.return_room_events(room, ids, at)))
    }

    fn room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        filter: &'a RoomEventFilter,
    ) -> StoreFuture<'a, Vec<RoomEvent>> {
        self.step(move |tables| {
            let room = tables.rooms.0.get(room).into_iter();
            let events = room.flat_map(|room| &room.events).filter(|event| {
                event.seq > filter.after && filter.state.is_none_or(|state| event.state == state)
            });
            Ok(events.take(limited(filter.limit)).cloned().collect())
        })
    }

    fn add_room_message(&self, message: NewRoomMessage) -> StoreFuture<'_, u64> {
        self.step(move |tables| tables.add_room_message(message))
    }

    fn room_messages<'a>(&'a self, room: &'a ThreadId) -> StoreFuture<'a, Vec<RoomMessage>> {
        self.step(move |tables| {
            let room = tables.rooms.0.get(room);
            Ok(room.map_or_else(Vec::new, |room| room.messages.clone()))
        })
    }

    fn room_message_page<'a>(
        &'a self,
        room: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<RoomMessage>> {
        self.step(move |tables| {
            let room = tables.rooms.0.get(room).into_iter();
            let messages = room.flat_map(|room| &room.messages);
            let messages = messages.filter(|message| message.seq > after);
            Ok(messages.take(limited(Some(limit))).cloned().collect())
        })
    }

    fn rooms<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<RoomSummary>> {
        self.step(move |tables| {
            let rooms = tables.rooms.0.iter().filter(|(id, room)| {
                let is_after = after.is_none_or(|after| id.conversation() > after);
                id.workspace() == workspace && is_after && !room.is_empty()
            });
            let rooms = rooms.map(|(id, room)| room.summary(id));
            Ok(rooms.take(limited(Some(limit))).collect())
        })
    }

    fn remove_room<'a>(&'a self, room: &'a ThreadId) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.rooms.remove(room)))
    }

    fn compact_room(&self, compaction: RoomCompaction) -> StoreFuture<'_, ()> {
        self.step(move |tables| tables.compact_room(compaction))
    }
}
