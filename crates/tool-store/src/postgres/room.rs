//! Rooms in PostgreSQL.

use crate::digest::sha256;
use crate::sql::room as shared;
use crate::store::{
    NewRoomEvent, NewRoomMessage, RoomCompaction, RoomEvent, RoomEventFilter, RoomMessage,
    RoomStore, RoomSummary, StoreFuture, ThreadId, Timestamp, Workspace,
};

use super::change::change;
use super::{PostgresStore, lock_number, step};

/// Returns the advisory lock of a transaction that numbers rows of a room, or that takes events.
fn lock(room: &ThreadId) -> i64 {
    let (workspace, conversation) = (room.workspace().as_str(), room.conversation());
    lock_number(&sha256(&["room", workspace, conversation]))
}

impl RoomStore for PostgresStore {
    fn add_room_event(&self, event: NewRoomEvent) -> StoreFuture<'_, bool> {
        step(async move {
            event.check()?;
            let locks = || vec![lock(&event.room)];
            change!(self, locks(), db => shared::add_event(db, &event).await)
        })
    }

    fn take_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        limit: u32,
        at: Timestamp,
    ) -> StoreFuture<'a, Vec<RoomEvent>> {
        step(async move {
            let locks = || vec![lock(room)];
            change!(self, locks(), db => shared::take_events(db, room, limit, at).await)
        })
    }

    fn complete_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        ids: &'a [String],
        notes: Option<&'a str>,
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        step(async move {
            change!(self, Vec::new(), db => shared::complete_events(db, room, ids, notes, at).await)
        })
    }

    fn return_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        ids: &'a [String],
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        step(async move {
            change!(self, Vec::new(), db => shared::return_events(db, room, ids, at).await)
        })
    }

    fn room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        filter: &'a RoomEventFilter,
    ) -> StoreFuture<'a, Vec<RoomEvent>> {
        step(async move { shared::list_events(&mut &*self, room, filter).await })
    }

    fn add_room_message(&self, message: NewRoomMessage) -> StoreFuture<'_, u64> {
        step(async move {
            message.check()?;
            let locks = || vec![lock(&message.room)];
            change!(self, locks(), db => shared::add_message(db, &message).await)
        })
    }

    fn room_messages<'a>(&'a self, room: &'a ThreadId) -> StoreFuture<'a, Vec<RoomMessage>> {
        step(async move { shared::list_messages(&mut &*self, room).await })
    }

    fn room_message_page<'a>(
        &'a self,
        room: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<RoomMessage>> {
        step(async move { shared::list_message_page(&mut &*self, room, after, limit).await })
    }

    fn rooms<'a>(
        &'a self,
        workspace: &'a Workspace,
        after: Option<&'a str>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<RoomSummary>> {
        step(async move { shared::list_rooms(&mut &*self, workspace, after, limit).await })
    }

    fn remove_room<'a>(&'a self, room: &'a ThreadId) -> StoreFuture<'a, bool> {
        step(async move { change!(self, Vec::new(), db => shared::remove(db, room).await) })
    }

    fn compact_room(&self, compaction: RoomCompaction) -> StoreFuture<'_, ()> {
        step(async move {
            let locks = || vec![lock(&compaction.room)];
            change!(self, locks(), db => shared::compact(db, &compaction).await)
        })
    }
}
