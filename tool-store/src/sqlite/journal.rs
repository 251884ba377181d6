//! Changes of several stores in one transaction.

use std::sync::Arc;

use tool_core::store::{Batch, BatchStore, Batched, EndedEffect, Journal, StoreFuture};

use super::{SqliteStore, audit, step};

impl BatchStore for SqliteStore {
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched> {
        step(async move {
            if let Some(message) = &batch.message {
                message.check()?;
            }
            let mut change = self.change_first().await?;
            let mut done = Batched::default();
            if let Some(EndedEffect { key, owner, end }) = batch.effect {
                done.effect = Some(super::ledger::end(&mut change, &key, &owner, end).await?);
            }
            if let Some(row) = &batch.audit {
                audit::save(&mut change, row).await?;
            }
            if let Some(message) = &batch.message {
                done.message = Some(super::thread::append(&mut change, message).await?);
            }
            if let Some(run) = &batch.run {
                let ended = super::run::change_row(&mut change, &run.id, |row| {
                    row.end(&run.owner, run.end)
                });
                done.run = Some(ended.await?.is_some_and(|(ended, _)| ended));
            }
            change.commit().await?;
            Ok(done)
        })
    }
}

impl SqliteStore {
    pub(super) fn as_journal(&self) -> Journal {
        Journal::new(Arc::new(self.clone()), self.writer.shared())
    }
}
