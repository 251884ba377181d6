//! Child threads in SQLite.

use crate::sql::child as shared;
use crate::store::{
    ChildChange, ChildFilter, ChildMessage, ChildOpened, ChildRow, ChildSender, ChildStore,
    EndedSession, NewMessage, Scope, SessionEnd, StoreFuture, ThreadId,
};

use super::{SqliteStore, step};

impl ChildStore for SqliteStore {
    fn open_child(
        &self,
        row: ChildRow,
        most: Option<u32>,
        messages: Vec<NewMessage>,
    ) -> StoreFuture<'_, ChildOpened> {
        step(async move {
            row.check(&messages)?;
            let sealer = self.contents.sealer_if(!messages.is_empty()).await?;
            let opened = self.change(move |db| {
                Box::pin(async move { shared::open(db, &row, most, &messages, &sealer).await })
            });
            opened.await
        })
    }

    fn child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<ChildRow>> {
        step(async move { shared::child(&mut &*self, thread).await })
    }

    fn children<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ChildFilter,
    ) -> StoreFuture<'a, Vec<ChildRow>> {
        step(async move { shared::children(&mut &*self, scope, filter).await })
    }

    fn message_child(
        &self,
        message: NewMessage,
        sender: ChildSender,
    ) -> StoreFuture<'_, ChildMessage> {
        step(async move {
            message.check()?;
            let sealer = self.contents.sealer().await?;
            let stored = self.change(move |db| {
                Box::pin(async move { shared::message(db, &message, &sender, &sealer).await })
            });
            stored.await
        })
    }

    fn change_child<'a>(
        &'a self,
        thread: &'a ThreadId,
        change: ChildChange,
    ) -> StoreFuture<'a, Option<ChildRow>> {
        let thread = thread.clone();
        step(
            self.change(move |db| {
                Box::pin(async move { shared::change(db, &thread, &change).await })
            }),
        )
    }

    fn end_session<'a>(
        &'a self,
        thread: &'a ThreadId,
        end: EndedSession,
    ) -> StoreFuture<'a, SessionEnd> {
        let thread = thread.clone();
        step(async move {
            let sealer = self.contents.sealer_if(end.message.is_some()).await?;
            let ended = self.change(move |db| {
                Box::pin(async move { shared::end(db, &thread, &end, &sealer).await })
            });
            ended.await
        })
    }

    fn remove_child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        let thread = thread.clone();
        step(self.change(move |db| Box::pin(async move { shared::remove(db, &thread).await })))
    }
}
