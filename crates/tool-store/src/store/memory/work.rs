//! In-memory queue of threads.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{MemoryStore, Tables, limited};
use crate::store::{
    ClaimedWork, NewMessage, NewWork, RunCause, RunEnd, Scope, StoreError, StoreFuture, ThreadId,
    Timestamp, WorkClaim, WorkFilter, WorkOutcome, WorkRow, WorkStore, Workspace,
};

#[derive(Default)]
pub(super) struct Work {
    rows: BTreeMap<ThreadId, WorkRow>,
}

impl Work {
    pub(super) fn remove(&mut self, thread: &ThreadId) -> bool {
        self.rows.remove(thread).is_some()
    }

    /// Removes the rows of a user, for the erasure of the user.
    pub(super) fn erase_user(&mut self, workspace: &Workspace, user: &str) {
        self.rows.retain(|_, row| {
            row.workspace() != workspace || row.principal.as_deref() != Some(user)
        });
    }

    /// Returns the threads that a claim takes, ordered by the position of their agents in the claim, then by the time at which they became ready.
    fn ready(&self, claim: &WorkClaim) -> Vec<ThreadId> {
        let (mut ready, mut suspects) = (Vec::new(), 0);
        for agent in &claim.agents {
            let rows = self.rows.values();
            let rows = rows.filter(|row| row.agent == *agent && row.is_ready(claim.at));
            let mut rows: Vec<&WorkRow> = rows.collect();
            rows.sort_by_key(|row| row.ready);
            let rows = rows.into_iter().filter(|row| {
                suspects += u32::from(row.becomes_suspect());
                !row.becomes_suspect() || suspects <= claim.suspects
            });
            ready.extend(rows.map(|row| row.thread.clone()));
        }
        ready.truncate(limited(Some(claim.limit)));
        ready
    }

    /// Applies a step to a row. Returns the row after the step; `None` if the row does not exist or the step returns false.
    fn step(
        &mut self,
        thread: &ThreadId,
        step: impl FnOnce(&mut WorkRow) -> bool,
    ) -> Option<WorkRow> {
        let row = self.rows.get_mut(thread)?;
        step(row).then(|| row.clone())
    }
}

impl Tables {
    fn queue_work(
        &mut self,
        work: NewWork,
        message: Option<NewMessage>,
    ) -> Result<(WorkRow, Option<u64>), StoreError> {
        work.check(message.as_ref())?;
        let seq = message.map(|message| self.threads.append(message));
        let seq = seq.transpose()?;
        let stored = self.work.rows.get(&work.thread).cloned();
        let row = WorkRow::queue(stored, work);
        self.work.rows.insert(row.thread.clone(), row.clone());
        Ok((row, seq))
    }

    fn claim_work(&mut self, claim: &WorkClaim) -> ClaimedWork {
        let ready = self.work.ready(claim);
        self.claim(ready, claim)
    }

    fn claim_thread(&mut self, thread: &ThreadId, claim: &WorkClaim) -> ClaimedWork {
        let row = self.work.rows.get(thread);
        let takes = row.is_some_and(|row| row.is_claimable(claim));
        self.claim(takes.then(|| thread.clone()), claim)
    }

    /// Claims threads that are ready.
    fn claim(
        &mut self,
        ready: impl IntoIterator<Item = ThreadId>,
        claim: &WorkClaim,
    ) -> ClaimedWork {
        let mut done = ClaimedWork::default();
        for thread in ready {
            let Some(row) = self.work.rows.get_mut(&thread) else {
                continue;
            };
            if row.claim(claim, WorkClaim::token()) {
                done.claimed.push(row.clone());
            } else {
                done.ended.push(row.clone());
                self.runs.end_lapsed(&thread, claim);
            }
        }
        done
    }
}

impl super::run::Runs {
    /// Ends the run of a thread whose processes died too often, unless the lease of the run continues for more than a third of the claim's lease.
    ///
    /// The leases of the claim and of the run do not end at the same time, because they are extended separately, each after a third of its length.
    fn end_lapsed(&mut self, thread: &ThreadId, claim: &WorkClaim) {
        let (at, held) = (claim.at, claim.at.plus(claim.lease / 3));
        if let Some(row) = self.running(thread).filter(|row| !row.is_held(held)) {
            let (id, owner, progress) = (row.id.clone(), row.owner.clone(), row.progress);
            let cause = RunCause::CrashLimit;
            self.end(
                &id,
                &owner,
                RunEnd {
                    cause,
                    at,
                    progress,
                },
            );
        }
    }
}

impl WorkStore for MemoryStore {
    fn queue_work(
        &self,
        work: NewWork,
        message: Option<NewMessage>,
    ) -> StoreFuture<'_, (WorkRow, Option<u64>)> {
        self.step(move |tables| tables.queue_work(work, message))
    }

    fn wake_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        delay: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        self.step(move |tables| {
            Ok(tables.work.step(thread, |row| {
                row.wake(at.plus(delay), at);
                true
            }))
        })
    }

    fn claim_work(&self, claim: WorkClaim) -> StoreFuture<'_, ClaimedWork> {
        self.step(move |tables| Ok(tables.claim_work(&claim)))
    }

    fn claim_thread<'a>(
        &'a self,
        thread: &'a ThreadId,
        claim: WorkClaim,
    ) -> StoreFuture<'a, ClaimedWork> {
        self.step(move |tables| Ok(tables.claim_thread(thread, &claim)))
    }

    fn extend_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        self.step(move |tables| Ok(tables.work.step(thread, |row| row.extend(token, lease, at))))
    }

    fn release_work<'a>(
        &'a self,
        thread: &'a ThreadId,
        token: &'a str,
        outcome: WorkOutcome,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<WorkRow>> {
        self.step(move |tables| {
            Ok(tables
                .work
                .step(thread, |row| row.release(token, outcome, at)))
        })
    }

    fn work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<WorkRow>> {
        self.step(move |tables| Ok(tables.work.rows.get(thread).cloned()))
    }

    fn list_work<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a WorkFilter,
    ) -> StoreFuture<'a, Vec<WorkRow>> {
        self.step(move |tables| {
            let rows = tables.work.rows.values();
            let rows = rows.filter(|row| scope.covers(row.workspace()) && filter.admits(row));
            Ok(rows.take(limited(filter.limit)).cloned().collect())
        })
    }

    fn remove_work<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.work.remove(thread)))
    }
}
