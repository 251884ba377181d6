//! In-memory batches of changes.

use std::sync::Arc;

use super::{MemoryStore, Tables};
use crate::store::{Batch, BatchStore, Batched, EndedEffect, Journal, StoreError, StoreFuture};

impl Tables {
    fn write(&mut self, batch: Batch) -> Result<Batched, StoreError> {
        let Batch {
            effect,
            audit,
            message,
            run,
            begin,
            fence,
        } = batch;
        // All checks run first, so that a refused batch changes nothing.
        if let Some(EndedEffect { key, owner, end }) = &effect {
            self.ledger.check_end(key, owner, end.clone())?;
        }
        if let Some(message) = &message {
            self.threads.check(message)?;
        }
        if let Some(fence) = &fence {
            fence.check(self.runs.last_of(fence.id.thread()))?;
        }
        let mut done = Batched::default();
        if let Some(EndedEffect { key, owner, end }) = effect {
            done.effect = Some(self.ledger.end(&key, &owner, end)?);
        }
        if let Some(row) = audit {
            self.audit.write(row);
        }
        if let Some(message) = message {
            done.message = Some(self.threads.append(message)?);
        }
        if let Some(run) = run {
            done.run = Some(self.runs.end(&run.id, &run.owner, run.end));
        }
        if let Some(new) = begin {
            done.begun = Some(self.runs.begin(new));
        }
        Ok(done)
    }
}

impl BatchStore for MemoryStore {
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched> {
        self.step(|tables| tables.write(batch))
    }
}

impl MemoryStore {
    pub(super) fn as_journal(&self) -> Journal {
        Journal::new(Arc::new(self.clone()), &self.0)
    }
}
