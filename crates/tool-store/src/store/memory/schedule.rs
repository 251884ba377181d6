//! In-memory store of scheduled tasks.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{MemoryStore, Tables, limited};
use crate::store::{
    NewTask, ScheduleStore, Scope, StoreError, StoreFuture, TaskAttempt, TaskClaim, TaskFilter,
    TaskId, TaskRow, TaskRun, TaskRunFilter, TaskRunState, TaskStep, TaskUpdate, ThreadId,
    Timestamp, Workspace,
};

#[derive(Default)]
pub(super) struct Schedule {
    tasks: BTreeMap<TaskId, TaskRow>,
    runs: BTreeMap<(TaskId, Timestamp), TaskRun>,
}

impl Schedule {
    /// Removes the runs whose conversation is erased.
    pub(super) fn erase(&mut self, thread: &ThreadId) {
        self.runs.retain(|_, run| {
            run.task.workspace() != thread.workspace()
                || run.conversation.as_deref() != Some(thread.conversation())
        });
    }

    /// Removes the tasks of a user, and all runs on behalf of the user, including runs of removed tasks.
    pub(super) fn erase_user(&mut self, workspace: &Workspace, user: &str) {
        let is_of = |id: &TaskId, principal: Option<&str>| {
            id.workspace() == workspace && principal == Some(user)
        };
        self.tasks
            .retain(|id, row| !is_of(id, row.principal.as_deref()));
        self.runs
            .retain(|(task, _), run| !is_of(task, run.principal.as_deref()));
    }

    /// Removes runs that ended before a time.
    pub(super) fn retain_runs(&mut self, since: Timestamp, most: u32) -> u64 {
        let runs = self.runs.iter();
        let old = runs.filter(|(_, run)| run.ended.is_some_and(|ended| ended < since));
        let old: Vec<_> = old
            .map(|(key, _)| key.clone())
            .take(limited(Some(most)))
            .collect();
        for key in &old {
            self.runs.remove(key);
        }
        super::count(old.len())
    }

    /// Writes the changes of a step to the run, and removes the task if the step removes it.
    fn apply(&mut self, id: &TaskId, step: TaskStep, at: Timestamp) {
        if let Some((due, state, reason)) = step.run
            && let Some(run) = self.runs.get_mut(&(id.clone(), due))
        {
            run.step(state, reason, at);
        }
        if step.removed {
            self.tasks.remove(id);
        }
    }
}

impl Tables {
    fn create_task(&mut self, new: NewTask) -> Result<TaskRow, StoreError> {
        let tasks = &mut self.schedule.tasks;
        if tasks.contains_key(&new.id) {
            return Err(new.exists());
        }
        let row = TaskRow::new(new);
        tasks.insert(row.id.clone(), row.clone());
        Ok(row)
    }

    pub(super) fn update_task(
        &mut self,
        id: &TaskId,
        update: TaskUpdate,
        expected: u64,
    ) -> Result<Option<TaskRow>, StoreError> {
        let Some(row) = self.schedule.tasks.get_mut(id) else {
            return Ok(None);
        };
        row.check(expected)?;
        let at = update.at;
        let step = row.update(update);
        let row = row.clone();
        self.schedule.apply(id, step, at);
        Ok(Some(row))
    }

    fn claim_task(&mut self, claim: &TaskClaim) -> Option<(TaskRow, TaskRun)> {
        let schedule = &mut self.schedule;
        let row = schedule.tasks.get_mut(&claim.id)?;
        if !row.is_claimable(claim) {
            return None;
        }
        let key = (claim.id.clone(), claim.due);
        let ended = schedule.runs.get(&key);
        let ended = ended.is_some_and(|run| run.state != TaskRunState::Running);
        let step = row.claim(claim, ended);
        let row = row.clone();
        for run in claim.skipped_runs(&row) {
            let key = (claim.id.clone(), run.due);
            schedule.runs.entry(key).or_insert(run);
        }
        schedule.apply(&claim.id, step, claim.at);
        row.token.as_ref()?;
        let run = schedule.runs.entry(key).or_insert_with(|| claim.run(&row));
        run.begin(claim);
        Some((row, run.clone()))
    }

    /// Removes a task. Fails with `Stale` if its row has a different version than `expected`.
    pub(super) fn remove_task(
        &mut self,
        id: &TaskId,
        expected: Option<u64>,
        at: Timestamp,
    ) -> Result<bool, StoreError> {
        let Some(row) = self.schedule.tasks.get(id) else {
            return Ok(false);
        };
        expected.map_or(Ok(()), |expected| row.check(expected))?;
        let step = row.remove();
        self.schedule.apply(id, step, at);
        Ok(true)
    }

    fn end_task_attempt(&mut self, id: &TaskId, token: &str, attempt: TaskAttempt) -> bool {
        let at = attempt.at;
        let row = self.schedule.tasks.get_mut(id);
        let Some(step) = row.and_then(|row| row.end_attempt(token, attempt)) else {
            return false;
        };
        self.schedule.apply(id, step, at);
        true
    }
}

impl ScheduleStore for MemoryStore {
    fn create_task(&self, new: NewTask) -> StoreFuture<'_, TaskRow> {
        self.step(move |tables| tables.create_task(new))
    }

    fn task<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<TaskRow>> {
        self.step(move |tables| Ok(tables.schedule.tasks.get(id).cloned()))
    }

    fn list_tasks<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a TaskFilter,
    ) -> StoreFuture<'a, Vec<TaskRow>> {
        self.step(move |tables| {
            let rows = tables.schedule.tasks.values().filter(|row| {
                let after = filter.after.as_ref();
                scope.covers(row.workspace()) && after.is_none_or(|after| row.id > *after)
            });
            Ok(rows.take(limited(filter.limit)).cloned().collect())
        })
    }

    fn update_task<'a>(
        &'a self,
        id: &'a TaskId,
        update: TaskUpdate,
        expected: u64,
    ) -> StoreFuture<'a, Option<TaskRow>> {
        self.step(move |tables| tables.update_task(id, update, expected))
    }

    fn request_task_run<'a>(
        &'a self,
        id: &'a TaskId,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<TaskRow>> {
        self.step(move |tables| {
            let row = tables.schedule.tasks.get_mut(id);
            Ok(row.map(|row| {
                row.request(at);
                row.clone()
            }))
        })
    }

    fn remove_task<'a>(&'a self, id: &'a TaskId, at: Timestamp) -> StoreFuture<'a, bool> {
        self.step(move |tables| tables.remove_task(id, None, at))
    }

    fn ready_tasks(&self, at: Timestamp, limit: u32) -> StoreFuture<'_, Vec<TaskRow>> {
        self.step(move |tables| {
            let rows = tables.schedule.tasks.values();
            let ready = rows.filter(|row| row.ready.is_some_and(|ready| ready <= at));
            let mut ready: Vec<TaskRow> = ready.cloned().collect();
            ready.sort_by_key(|row| row.ready);
            ready.truncate(limited(Some(limit)));
            Ok(ready)
        })
    }

    fn claim_task(&self, claim: TaskClaim) -> StoreFuture<'_, Option<(TaskRow, TaskRun)>> {
        self.step(move |tables| Ok(tables.claim_task(&claim)))
    }

    fn extend_task<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| {
            let row = tables.schedule.tasks.get_mut(id);
            Ok(row.is_some_and(|row| row.extend(token, lease, at)))
        })
    }

    fn end_task_attempt<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        attempt: TaskAttempt,
    ) -> StoreFuture<'a, bool> {
        self.step(move |tables| Ok(tables.end_task_attempt(id, token, attempt)))
    }

    fn list_task_runs<'a>(
        &'a self,
        id: &'a TaskId,
        filter: &'a TaskRunFilter,
    ) -> StoreFuture<'a, Vec<TaskRun>> {
        self.step(move |tables| {
            let runs = tables.schedule.runs.values().rev();
            let runs = runs.filter(|run| {
                run.task == *id
                    && filter.state.is_none_or(|state| run.state == state)
                    && filter.before.is_none_or(|before| run.due < before)
            });
            Ok(runs.take(limited(filter.limit)).cloned().collect())
        })
    }
}
