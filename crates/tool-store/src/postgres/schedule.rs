//! Scheduled tasks in PostgreSQL.

use std::time::Duration;

use crate::sql::schedule as shared;
use crate::store::{
    NewTask, ScheduleStore, Scope, StoreFuture, TaskAttempt, TaskClaim, TaskFilter, TaskId,
    TaskRow, TaskRun, TaskRunFilter, TaskUpdate, Timestamp,
};

use super::change::change;
use super::{PostgresStore, step};

impl ScheduleStore for PostgresStore {
    fn create_task(&self, new: NewTask) -> StoreFuture<'_, TaskRow> {
        step(async move { change!(self, Vec::new(), db => shared::create(db, &new).await) })
    }

    fn task<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<TaskRow>> {
        step(async move { shared::task(&mut &*self, id).await })
    }

    fn list_tasks<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a TaskFilter,
    ) -> StoreFuture<'a, Vec<TaskRow>> {
        step(async move { shared::list(&mut &*self, scope, filter).await })
    }

    fn update_task<'a>(
        &'a self,
        id: &'a TaskId,
        update: TaskUpdate,
        expected: u64,
    ) -> StoreFuture<'a, Option<TaskRow>> {
        step(async move {
            change!(self, Vec::new(), db => shared::update(db, id, update.clone(), expected).await)
        })
    }

    fn request_task_run<'a>(
        &'a self,
        id: &'a TaskId,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<TaskRow>> {
        step(async move { change!(self, Vec::new(), db => shared::request(db, id, at).await) })
    }

    fn remove_task<'a>(&'a self, id: &'a TaskId, at: Timestamp) -> StoreFuture<'a, bool> {
        step(async move { change!(self, Vec::new(), db => shared::remove(db, id, None, at).await) })
    }

    fn ready_tasks(&self, at: Timestamp, limit: u32) -> StoreFuture<'_, Vec<TaskRow>> {
        step(async move { shared::ready_tasks(&mut &*self, at, limit).await })
    }

    fn claim_task(&self, claim: TaskClaim) -> StoreFuture<'_, Option<(TaskRow, TaskRun)>> {
        step(async move { change!(self, Vec::new(), db => shared::claim(db, claim.clone()).await) })
    }

    fn extend_task<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => shared::extend(db, id, token, lease, at).await)
        })
    }

    fn end_task_attempt<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        attempt: TaskAttempt,
    ) -> StoreFuture<'a, bool> {
        step(async move {
            change!(self, Vec::new(), db => shared::end_attempt(db, id, token, attempt.clone()).await)
        })
    }

    fn list_task_runs<'a>(
        &'a self,
        id: &'a TaskId,
        filter: &'a TaskRunFilter,
    ) -> StoreFuture<'a, Vec<TaskRun>> {
        step(async move { shared::list_runs(&mut &*self, id, filter).await })
    }
}
