//! Rooms in SQLite.

use crate::sql::room as shared;
use crate::store::{
    NewRoomEvent, NewRoomMessage, RoomCompaction, RoomEvent, RoomEventFilter, RoomMessage,
    RoomStore, RoomSummary, StoreFuture, ThreadId, Timestamp, Workspace,
};

use super::{SqliteStore, step};

impl RoomStore for SqliteStore {
    fn add_room_event(&self, event: NewRoomEvent) -> StoreFuture<'_, bool> {
        step(async move {
            event.check()?;
            let added =
                self.change(move |db| Box::pin(async move { shared::add_event(db, &event).await }));
            added.await
        })
    }

    fn take_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        limit: u32,
        at: Timestamp,
    ) -> StoreFuture<'a, Vec<RoomEvent>> {
        let room = room.clone();
        step(self.change(move |db| {
            Box::pin(async move { shared::take_events(db, &room, limit, at).await })
        }))
    }

    fn complete_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        ids: &'a [String],
        notes: Option<&'a str>,
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        let (room, ids, notes) = (room.clone(), ids.to_vec(), notes.map(str::to_owned));
        step(self.change(move |db| {
            Box::pin(
                async move { shared::complete_events(db, &room, &ids, notes.as_deref(), at).await },
            )
        }))
    }

    fn return_room_events<'a>(
        &'a self,
        room: &'a ThreadId,
        ids: &'a [String],
        at: Timestamp,
    ) -> StoreFuture<'a, u64> {
        let (room, ids) = (room.clone(), ids.to_vec());
        step(self.change(move |db| {
            Box::pin(async move { shared::return_events(db, &room, &ids, at).await })
        }))
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
            let added = self
                .change(move |db| Box::pin(async move { shared::add_message(db, &message).await }));
            added.await
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
        let room = room.clone();
        step(async move {
            let removed =
                self.change(move |db| Box::pin(async move { shared::remove(db, &room).await }));
            let removed = removed.await?;
            self.forget().await?;
            Ok(removed)
        })
    }

    fn compact_room(&self, compaction: RoomCompaction) -> StoreFuture<'_, ()> {
        step(self.change(move |db| Box::pin(async move { shared::compact(db, &compaction).await })))
    }
}
