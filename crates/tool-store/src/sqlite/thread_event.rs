//! The events of threads in SQLite.

use crate::sql::contents::Reader;
use crate::sql::statement::SqlReader as _;
use crate::sql::thread_event as shared;
use crate::store::{NewThreadEvents, StoreFuture, ThreadEvent, ThreadEventStore, ThreadId};

use super::sealed::check_sealer;
use super::{SqliteStore, step};

impl ThreadEventStore for SqliteStore {
    fn append_events(&self, events: NewThreadEvents) -> StoreFuture<'_, u64> {
        step(async move {
            events.check()?;
            let sealer = self.contents.sealer_if(!events.events.is_empty()).await?;
            let appended = self.change(move |db| {
                Box::pin(async move {
                    check_sealer(db, &sealer).await?;
                    shared::append(db, &events, &sealer).await
                })
            });
            appended.await
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
            Ok(self.contents.read(read).await?)
        })
    }

    fn erase_events<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        let thread = thread.clone();
        step(async move {
            let erased =
                self.change(move |db| Box::pin(async move { shared::erase(db, &thread).await }));
            let erased = erased.await?;
            self.forget().await?;
            Ok(erased)
        })
    }
}
