//! Child threads in PostgreSQL.

use crate::digest::sha256;
use crate::sql::child as shared;
use crate::store::{
    ChildChange, ChildFilter, ChildMessage, ChildOpened, ChildRow, ChildSender, ChildStore,
    EndedSession, NewMessage, Scope, SessionEnd, StoreFuture, ThreadId,
};

use super::change::change;
use super::{PostgresStore, lock_number, step};

/// Returns the advisory lock of a thread. A transaction that opens a child locks two threads: the child, so that the same child is opened once, and the
/// parent, because the transaction counts the parent's children before it adds one.
fn lock(thread: &ThreadId) -> i64 {
    let (workspace, conversation) = (thread.workspace().as_str(), thread.conversation());
    lock_number(&sha256(&["child threads", workspace, conversation]))
}

impl ChildStore for PostgresStore {
    fn open_child(
        &self,
        row: ChildRow,
        most: Option<u32>,
        messages: Vec<NewMessage>,
    ) -> StoreFuture<'_, ChildOpened> {
        step(async move {
            row.check(&messages)?;
            let sealer = self.contents().sealer_if(!messages.is_empty()).await?;
            let locks = || vec![lock(&row.parent), lock(&row.thread)];
            change!(self, locks(), db => shared::open(db, &row, most, &messages, &sealer).await)
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
            let sealer = self.contents().sealer().await?;
            change!(self, Vec::new(), db => shared::message(db, &message, &sender, &sealer).await)
        })
    }

    fn change_child<'a>(
        &'a self,
        thread: &'a ThreadId,
        change: ChildChange,
    ) -> StoreFuture<'a, Option<ChildRow>> {
        step(
            async move { change!(self, Vec::new(), db => shared::change(db, thread, &change).await) },
        )
    }

    fn end_session<'a>(
        &'a self,
        thread: &'a ThreadId,
        end: EndedSession,
    ) -> StoreFuture<'a, SessionEnd> {
        step(async move {
            let sealer = self.contents().sealer_if(end.message.is_some()).await?;
            change!(self, Vec::new(), db => shared::end(db, thread, &end, &sealer).await)
        })
    }

    fn remove_child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        step(async move { change!(self, Vec::new(), db => shared::remove(db, thread).await) })
    }
}
