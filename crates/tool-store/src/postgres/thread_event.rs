//! The events of threads in PostgreSQL.

use crate::sql::contents::Reader;
use crate::sql::statement::SqlReader as _;
use crate::sql::thread_event as shared;
use crate::store::{NewThreadEvents, StoreFuture, ThreadEvent, ThreadEventStore, ThreadId};

use super::change::change;
use super::sealed::check_sealer;
use super::{PostgresStore, step};

impl ThreadEventStore for PostgresStore {
    fn append_events(&self, events: NewThreadEvents) -> StoreFuture<'_, u64> {
        step(async move {
            events.check()?;
            let sealer = self.contents().sealer_if(!events.events.is_empty()).await?;
            change!(self, Vec::new(), db => {
                check_sealer(db, &sealer).await?;
                shared::append(db, &events, &sealer).await
            })
        })
    }

    fn thread_events<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<ThreadEvent>> {
        step(async move {
            let mut reader = self;
            let rows = reader.read(|| shared::listing(thread, after, limit));
            let rows = rows.await?;
            let read = |reader: &Reader| shared::read_all::<&Self>(&rows, reader);
            Ok(self.contents().read(read).await?)
        })
    }

    fn erase_events<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        step(async move { change!(self, Vec::new(), db => shared::erase(db, thread).await) })
    }
}
