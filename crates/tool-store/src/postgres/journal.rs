//! Batches: changes of several stores in one transaction.

use std::sync::Arc;

use crate::sql::contents::Sealer;
use crate::store::{Batch, BatchStore, Batched, EndedEffect, Journal, StoreFuture, Timestamp};

use super::change::{Change, change};
use super::{Fault, PostgresStore, audit, step};

impl BatchStore for PostgresStore {
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched> {
        step(async move {
            if let Some(message) = &batch.message {
                message.check()?;
            }
            let sealer = self.contents().sealer_if(batch.message.is_some()).await?;
            change!(self, Vec::new(), db => write(db, &batch, &sealer).await)
        })
    }
}

/// Writes the parts in the common order of locks, which prevents deadlocks: effects, audit rows that exist already, threads, runs.
async fn write(db: &mut Change<'_>, batch: &Batch, sealer: &Sealer) -> Result<Batched, Fault> {
    let mut done = Batched::default();
    if let Some(EndedEffect { key, owner, end }) = &batch.effect {
        done.effect = Some(super::ledger::end(db, key, owner, end).await?);
    }
    if let Some(row) = &batch.audit {
        audit::save(db, row).await?;
    }
    if let Some(message) = &batch.message {
        done.message = Some(super::thread::append(db, message, sealer).await?);
    }
    if let Some(fence) = &batch.fence {
        // The lock of the thread's row prevents another transaction from beginning a run. If the batch has a message of this thread, `append` has
        // locked the row.
        let message = batch.message.as_ref();
        if message.is_none_or(|message| message.thread != *fence.id.thread()) {
            super::run::lock_thread(db, fence.id.thread()).await?;
        }
        crate::sql::fence::check(db, fence).await?;
    }
    if let Some(new) = &batch.begin {
        super::run::lock_thread(db, &new.thread).await?;
    }
    if let Some(run) = &batch.run {
        let ended = super::run::change_row(db, &run.id, Timestamp::now(), |row| {
            row.end(&run.owner, run.end)
        });
        done.run = Some(ended.await?.is_some_and(|(ended, _)| ended));
    }
    if let Some(new) = &batch.begin {
        done.begun = Some(super::run::begin(db, new).await?);
    }
    Ok(done)
}

impl PostgresStore {
    pub(super) fn as_journal(&self) -> Journal {
        let store = Arc::new(self.clone());
        // A handle that seals has its own journal, so that its batches are never written by a handle that does not seal.
        match self.contents().shared() {
            Some(handle) => Journal::new(store, handle),
            None => Journal::new(store, &self.0),
        }
    }
}
