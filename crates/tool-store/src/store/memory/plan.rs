//! In-memory store of plans and their runs.

use std::collections::BTreeMap;

use super::{MemoryStore, Tables, limited};
use crate::store::{
    Erasure, NewPlanRun, PlanChange, PlanChanged, PlanCreated, PlanEvent, PlanFilter, PlanRow,
    PlanRunId, PlanStore, StoreError, StoreFuture, ThreadId, Timestamp, Workspace,
};

#[derive(Default)]
pub(super) struct Plans(BTreeMap<ThreadId, Thread>);

#[derive(Default)]
struct Thread {
    runs: BTreeMap<u64, Entry>,
    /// The number of the last run, which is kept when runs are removed.
    last: u64,
}

struct Entry {
    row: PlanRow,
    events: Vec<PlanEvent>,
}

impl Thread {
    fn active(&self) -> Option<&PlanRow> {
        let mut rows = self.runs.values().map(|entry| &entry.row);
        rows.find(|row| row.status.is_active())
    }

    fn insert(&mut self, row: PlanRow, events: Vec<PlanEvent>) {
        self.last = row.id.number();
        self.runs.insert(self.last, Entry { row, events });
    }
}

impl Plans {
    fn row(&self, id: &PlanRunId) -> Option<&Entry> {
        self.0.get(id.thread())?.runs.get(&id.number())
    }

    /// Removes the runs that an erasure covers.
    pub(super) fn erase(&mut self, of: Erasure<'_>) {
        for (id, thread) in &mut self.0 {
            thread.runs.retain(|_, Entry { row, .. }| match of {
                Erasure::Thread(own) => own != id,
                Erasure::Principal {
                    workspace,
                    principal,
                } => id.workspace() != workspace || row.principal.as_deref() != Some(principal),
            });
        }
    }
}

impl Tables {
    fn create_plan(&mut self, new: NewPlanRun) -> PlanCreated {
        let thread = self.plans.0.entry(new.thread.clone()).or_default();
        if let Some(active) = thread.active() {
            return PlanCreated::Active(Box::new(active.clone()));
        }
        let (row, events) = PlanRow::create(thread.last + 1, new);
        thread.insert(row.clone(), events);
        PlanCreated::Created(Box::new(row))
    }

    fn replace_plan(&mut self, new: NewPlanRun, reason: String) -> Option<PlanRow> {
        let thread = self.plans.0.get_mut(&new.thread)?;
        let active = thread.active()?.id.number();
        let (mut row, events) = PlanRow::create(thread.last + 1, new);
        let old = thread.runs.get_mut(&active)?;
        old.events.extend(old.row.replace(&mut row, reason));
        thread.insert(row.clone(), events);
        Some(row)
    }

    pub(super) fn change_plan(
        &mut self,
        id: &PlanRunId,
        change: &PlanChange,
        at: Timestamp,
    ) -> Result<PlanChanged, StoreError> {
        let thread = self.plans.0.get_mut(id.thread());
        let entry = thread.and_then(|thread| thread.runs.get_mut(&id.number()));
        let entry = entry.ok_or_else(|| id.missing())?;
        Ok(match entry.row.apply(change, at) {
            Ok(events) => {
                entry.events.extend(events);
                PlanChanged::Changed(Box::new(entry.row.clone()))
            }
            Err(refusal) => PlanChanged::Refused(refusal, Box::new(entry.row.clone())),
        })
    }
}

impl PlanStore for MemoryStore {
    fn create_plan(&self, new: NewPlanRun) -> StoreFuture<'_, PlanCreated> {
        self.step(move |tables| Ok(tables.create_plan(new)))
    }

    fn replace_plan(&self, new: NewPlanRun, reason: String) -> StoreFuture<'_, Option<PlanRow>> {
        self.step(move |tables| Ok(tables.replace_plan(new, reason)))
    }

    fn change_plan<'a>(
        &'a self,
        id: &'a PlanRunId,
        change: PlanChange,
        at: Timestamp,
    ) -> StoreFuture<'a, PlanChanged> {
        self.step(move |tables| tables.change_plan(id, &change, at))
    }

    fn plan<'a>(&'a self, id: &'a PlanRunId) -> StoreFuture<'a, Option<PlanRow>> {
        self.step(move |tables| Ok(tables.plans.row(id).map(|entry| entry.row.clone())))
    }

    fn active_plan<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<PlanRow>> {
        self.step(move |tables| {
            let thread = tables.plans.0.get(thread);
            Ok(thread.and_then(Thread::active).cloned())
        })
    }

    fn list_plans<'a>(
        &'a self,
        thread: &'a ThreadId,
        before: Option<u64>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<PlanRow>> {
        self.step(move |tables| {
            let Some(thread) = tables.plans.0.get(thread) else {
                return Ok(Vec::new());
            };
            let rows = thread.runs.range(..before.unwrap_or(u64::MAX)).rev();
            let rows = rows.take(limited(Some(limit)));
            Ok(rows.map(|(_, entry)| entry.row.clone()).collect())
        })
    }

    fn find_plans<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a PlanFilter,
    ) -> StoreFuture<'a, Vec<PlanRow>> {
        self.step(move |tables| {
            let threads = tables.plans.0.iter();
            let threads = threads.filter(|(id, _)| id.workspace() == workspace);
            let runs = threads.flat_map(|(_, thread)| thread.runs.values());
            let rows = runs
                .map(|entry| &entry.row)
                .filter(|row| filter.admits(row));
            Ok(rows.take(limited(filter.limit)).cloned().collect())
        })
    }

    fn plan_events<'a>(
        &'a self,
        id: &'a PlanRunId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<PlanEvent>> {
        self.step(move |tables| {
            let Some(entry) = tables.plans.row(id) else {
                return Ok(Vec::new());
            };
            let events = entry.events.iter().filter(|event| event.seq > after);
            Ok(events.take(limited(Some(limit))).cloned().collect())
        })
    }
}
