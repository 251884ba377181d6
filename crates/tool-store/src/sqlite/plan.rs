//! Plans in SQLite.

use crate::sql::contents::Reader;
use crate::sql::plan as shared;
use crate::sql::statement::{SqlReader as _, Statement};
use crate::store::{
    NewPlanRun, PlanChange, PlanChanged, PlanCreated, PlanEvent, PlanFilter, PlanRow, PlanRunId,
    PlanStore, StoreFuture, ThreadId, Timestamp, Workspace,
};
use sqlx::Sqlite;

use super::sealed::check_sealer;
use super::{Fault, SqliteStore, step};

/// Runs a transaction that reads and writes sealed contents. If it lacks a key, the key is fetched, and the transaction is repeated.
macro_rules! with_contents {
    ($store:expr, ($($value:ident),+), ($db:ident, $sealer:ident, $reader:ident) => $work:expr) => {{
        let sealer = $store.contents.sealer().await?;
        let reader = $store.contents.reader();
        loop {
            let ($sealer, $reader) = (sealer.clone(), reader.clone());
            $(let $value = $value.clone();)+
            let done = $store.change(move |$db| {
                Box::pin(async move {
                    check_sealer($db, &$sealer).await?;
                    $work
                })
            });
            match done.await {
                Err(fault) => reader.fetch_after(fault).await?,
                done => break done,
            }
        }
    }};
}

impl SqliteStore {
    async fn read_plans(
        &self,
        query: impl Fn() -> Statement<Sqlite> + Send + Sync,
    ) -> Result<Vec<PlanRow>, Fault> {
        let mut reader = self;
        let rows = reader.read(query).await?;
        let read = |reader: &Reader| shared::read_all::<&Self>(&rows, reader);
        Ok(self.contents.read(read).await?)
    }
}

impl PlanStore for SqliteStore {
    fn create_plan(&self, new: NewPlanRun) -> StoreFuture<'_, PlanCreated> {
        step(async move {
            with_contents!(self, (new), (db, sealer, reader) => shared::create(db, &new, &sealer, &reader).await)
        })
    }

    fn replace_plan(&self, new: NewPlanRun, reason: String) -> StoreFuture<'_, Option<PlanRow>> {
        step(async move {
            with_contents!(self, (new, reason), (db, sealer, reader) => {
                shared::replace(db, &new, &reason, &sealer, &reader).await
            })
        })
    }

    fn change_plan<'a>(
        &'a self,
        id: &'a PlanRunId,
        change: PlanChange,
        at: Timestamp,
    ) -> StoreFuture<'a, PlanChanged> {
        step(async move {
            with_contents!(self, (id, change), (db, sealer, reader) => {
                shared::change(db, &id, &change, at, &sealer, &reader).await
            })
        })
    }

    fn plan<'a>(&'a self, id: &'a PlanRunId) -> StoreFuture<'a, Option<PlanRow>> {
        step(async move { Ok(self.read_plans(|| shared::one(id)).await?.pop()) })
    }

    fn active_plan<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<PlanRow>> {
        step(async move { Ok(self.read_plans(|| shared::active(thread)).await?.pop()) })
    }

    fn list_plans<'a>(
        &'a self,
        thread: &'a ThreadId,
        before: Option<u64>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<PlanRow>> {
        step(self.read_plans(move || shared::listing(thread, before, limit)))
    }

    fn find_plans<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a PlanFilter,
    ) -> StoreFuture<'a, Vec<PlanRow>> {
        step(self.read_plans(move || shared::finding(workspace, filter)))
    }

    fn plan_events<'a>(
        &'a self,
        id: &'a PlanRunId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<PlanEvent>> {
        step(async move { shared::list_events(&mut &*self, id, after, limit).await })
    }
}
