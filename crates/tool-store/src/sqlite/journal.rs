//! Batches: changes of several stores in one transaction.

use std::sync::Arc;

use crate::sql::contents::Sealer;
use crate::store::{Batch, BatchStore, Batched, EndedEffect, Journal, StoreFuture};
use sqlx::sqlite::SqliteConnection;

use super::{Fault, SqliteStore, audit, step};

impl BatchStore for SqliteStore {
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched> {
        step(async move {
            if let Some(message) = &batch.message {
                message.check()?;
            }
            let sealer = self.contents.sealer_if(batch.message.is_some()).await?;
            if batch.begin.is_some() {
                // A batch that begins a run waits in order of arrival. All other batches run before the ordinary changes that wait.
                self.change(|db| Box::pin(write(db, batch, sealer))).await
            } else {
                self.change_first(|db| Box::pin(write(db, batch, sealer)))
                    .await
            }
        })
    }
}

async fn write(db: &mut SqliteConnection, batch: Batch, sealer: Sealer) -> Result<Batched, Fault> {
    let mut done = Batched::default();
    if let Some(EndedEffect { key, owner, end }) = batch.effect {
        done.effect = Some(super::ledger::end(&mut *db, &key, &owner, end).await?);
    }
    if let Some(row) = &batch.audit {
        audit::save(&mut *db, row).await?;
    }
    if let Some(message) = &batch.message {
        done.message = Some(super::thread::append(&mut *db, message, &sealer).await?);
    }
    if let Some(fence) = &batch.fence {
        crate::sql::fence::check(db, fence).await?;
    }
    if let Some(run) = &batch.run {
        let ended = super::run::change_row(&mut *db, &run.id, |row| row.end(&run.owner, run.end));
        done.run = Some(ended.await?.is_some_and(|(ended, _)| ended));
    }
    if let Some(new) = batch.begin {
        done.begun = Some(super::run::begin(db, new).await?);
    }
    Ok(done)
}

impl SqliteStore {
    pub(super) fn as_journal(&self) -> Journal {
        let store = Arc::new(self.clone());
        // A handle that seals has its own journal, so that its batches are never written by a handle that does not seal.
        match self.contents.shared() {
            Some(handle) => Journal::new(store, handle),
            None => Journal::new(store, self.writer.shared()),
        }
    }
}
