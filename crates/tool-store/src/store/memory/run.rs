//! In-memory store of runs.

use std::collections::{BTreeMap, BTreeSet};

use super::event::Noted;
use super::{MemoryStore, count, limited};
use crate::store::{
    Erasure, Journal, NewRun, RunBegun, RunCursor, RunEnd, RunFilter, RunId, RunProgress, RunRow,
    RunState, RunStop, RunStore, Scope, StoreFuture, ThreadId, Timestamp,
};

#[derive(Default)]
pub(super) struct Runs {
    rows: BTreeMap<RunId, RunRow>,
    /// The last run number of each thread, which is kept when rows are removed.
    last: BTreeMap<ThreadId, u64>,
    /// The `running` run of each thread.
    running: BTreeMap<ThreadId, RunId>,
    /// The cursors of all rows. Lists return the rows in the reverse of this order.
    sorted: BTreeSet<RunCursor>,
    pub(super) noted: Vec<Noted>,
}

impl Runs {
    pub(super) fn begin(&mut self, new: NewRun) -> RunBegun {
        let running = self.running.get(&new.thread);
        let running = running.and_then(|id| self.rows.get(id)).cloned();
        let next = self.last.get(&new.thread).unwrap_or(&0) + 1;
        let (begun, rows) = RunRow::begin(running, new, next);
        for row in rows {
            self.save(row);
        }
        begun
    }

    fn save(&mut self, row: RunRow) {
        let thread = row.id.thread();
        let last = self.last.entry(thread.clone()).or_default();
        *last = row.id.number().max(*last);
        if row.state == RunState::Running {
            self.running.insert(thread.clone(), row.id.clone());
        } else if self.running.get(thread) == Some(&row.id) {
            self.running.remove(thread);
        }
        self.sorted.insert(row.cursor());
        let facts = |row: &RunRow| (row.state, row.stop, row.owner.clone());
        // The renewal of a lease is not an event.
        if self.rows.get(&row.id).map(facts) != Some(facts(&row)) {
            let key = vec![
                thread.conversation().to_owned(),
                row.id.number().to_string(),
            ];
            self.noted.push((Some(thread.workspace().clone()), key));
        }
        self.rows.insert(row.id.clone(), row);
    }

    /// Applies a step to a row. Returns the result of the step and the row after the step; `None` if the row does not exist.
    pub(super) fn step<R>(
        &mut self,
        id: &RunId,
        step: impl FnOnce(&mut RunRow) -> R,
    ) -> Option<(R, RunRow)> {
        let mut row = self.rows.get(id)?.clone();
        let done = step(&mut row);
        self.save(row.clone());
        Some((done, row))
    }

    /// Returns the `running` run of a thread.
    pub(super) fn running(&self, thread: &ThreadId) -> Option<&RunRow> {
        self.rows.get(self.running.get(thread)?)
    }

    /// Returns the number and the owner of the last run of a thread.
    pub(super) fn last_of(&self, thread: &ThreadId) -> Option<(u64, &str)> {
        let number = *self.last.get(thread)?;
        let row = self.rows.get(&RunId::new(thread.clone(), number))?;
        Some((number, &row.owner))
    }

    pub(super) fn end(&mut self, id: &RunId, owner: &str, end: RunEnd) -> bool {
        let ended = self.step(id, |row| row.end(owner, end));
        ended.is_some_and(|(ended, _)| ended)
    }

    /// Ends the running runs that an erasure covers.
    pub(super) fn erase(&mut self, of: Erasure<'_>) {
        let rows = self.running.values().filter_map(|id| self.rows.get(id));
        let covered = rows.filter(|row| match of {
            Erasure::Thread(thread) => row.id.thread() == thread,
            Erasure::Principal {
                workspace,
                principal,
            } => row.id.workspace() == workspace && row.principal.as_deref() == Some(principal),
        });
        let covered: Vec<RunId> = covered.map(|row| row.id.clone()).collect();
        for id in covered {
            self.step(&id, |row| row.erase(Timestamp::now()));
        }
    }

    fn list(&self, scope: Scope<'_>, filter: &RunFilter) -> Vec<RunRow> {
        let rows = match &filter.after {
            Some(last) => self.sorted.range(..last),
            None => self.sorted.range::<RunCursor, _>(..),
        };
        let rows = rows.rev().filter_map(|cursor| self.rows.get(&cursor.id));
        let rows = rows.filter(|row| filter.covers(scope, row));
        rows.take(limited(filter.limit)).cloned().collect()
    }

    /// Removes runs that ended before `since`, at most `most` of them if it is set. Returns their number.
    pub(super) fn retain(&mut self, scope: Scope<'_>, since: Timestamp, most: Option<u32>) -> u64 {
        let over = self.rows.values().filter(|row| {
            scope.covers(row.id.workspace()) && row.ended.is_some_and(|ended| ended < since)
        });
        let over = over.take(limited(most));
        let over: Vec<RunCursor> = over.map(RunRow::cursor).collect();
        for cursor in &over {
            self.sorted.remove(cursor);
            self.rows.remove(&cursor.id);
        }
        count(over.len())
    }
}

impl RunStore for MemoryStore {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn begin_run(&self, run: NewRun) -> StoreFuture<'_, RunBegun> {
        self.step(|tables| Ok(tables.runs.begin(run)))
    }

    fn renew_run<'a>(
        &'a self,
        id: &'a RunId,
        owner: &'a str,
        until: Timestamp,
        progress: RunProgress,
    ) -> StoreFuture<'a, Option<RunRow>> {
        self.step(move |tables| {
            let renewed = tables
                .runs
                .step(id, |row| row.renew(owner, until, progress));
            Ok(renewed.and_then(|(renewed, row)| renewed.then_some(row)))
        })
    }

    fn end_run<'a>(&'a self, id: &'a RunId, owner: &'a str, end: RunEnd) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.runs.end(id, owner, end)))
    }

    fn stop_run<'a>(&'a self, id: &'a RunId, stop: RunStop) -> StoreFuture<'a, Option<RunRow>> {
        self.step(move |tables| {
            let stopped = tables.runs.step(id, |row| row.stop(stop));
            Ok(stopped.map(|(_, row)| row))
        })
    }

    fn get_run<'a>(&'a self, id: &'a RunId) -> StoreFuture<'a, Option<RunRow>> {
        self.step(move |tables| Ok(tables.runs.rows.get(id).cloned()))
    }

    fn list_runs<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a RunFilter,
    ) -> StoreFuture<'a, Vec<RunRow>> {
        self.step(move |tables| Ok(tables.runs.list(scope, filter)))
    }

    fn retain_runs<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.runs.retain(scope, since, None)))
    }
}
