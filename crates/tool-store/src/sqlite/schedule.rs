//! Scheduled tasks in SQLite.

use std::time::Duration;

use crate::sql::schedule as shared;
use crate::store::{
    NewTask, ScheduleStore, Scope, StoreFuture, TaskAttempt, TaskClaim, TaskFilter, TaskId,
    TaskRow, TaskRun, TaskRunFilter, TaskUpdate, Timestamp,
};

use super::{SqliteStore, step};

impl ScheduleStore for SqliteStore {
    fn create_task(&self, new: NewTask) -> StoreFuture<'_, TaskRow> {
        step(self.change(move |db| Box::pin(async move { shared::create(db, &new).await })))
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
        let id = id.clone();
        step(self.change(move |db| {
            Box::pin(async move { shared::update(db, &id, update, expected).await })
        }))
    }

    fn request_task_run<'a>(
        &'a self,
        id: &'a TaskId,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<TaskRow>> {
        let id = id.clone();
        step(self.change(move |db| Box::pin(async move { shared::request(db, &id, at).await })))
    }

    fn remove_task<'a>(&'a self, id: &'a TaskId, at: Timestamp) -> StoreFuture<'a, bool> {
        let id = id.clone();
        step(
            self.change(move |db| Box::pin(async move { shared::remove(db, &id, None, at).await })),
        )
    }

    fn ready_tasks(&self, at: Timestamp, limit: u32) -> StoreFuture<'_, Vec<TaskRow>> {
        step(async move { shared::ready_tasks(&mut &*self, at, limit).await })
    }

    fn claim_task(&self, claim: TaskClaim) -> StoreFuture<'_, Option<(TaskRow, TaskRun)>> {
        step(self.change(move |db| Box::pin(async move { shared::claim(db, claim).await })))
    }

    fn extend_task<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (id, token) = (id.clone(), token.to_owned());
        // In the order of arrival, this change could run only after the lease has expired.
        step(self.change_first(move |db| {
            Box::pin(async move { shared::extend(db, &id, &token, lease, at).await })
        }))
    }

    fn end_task_attempt<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        attempt: TaskAttempt,
    ) -> StoreFuture<'a, bool> {
        let (id, token) = (id.clone(), token.to_owned());
        step(self.change_first(move |db| {
            Box::pin(async move { shared::end_attempt(db, &id, &token, attempt).await })
        }))
    }

    fn list_task_runs<'a>(
        &'a self,
        id: &'a TaskId,
        filter: &'a TaskRunFilter,
    ) -> StoreFuture<'a, Vec<TaskRun>> {
        step(async move { shared::list_runs(&mut &*self, id, filter).await })
    }
}
