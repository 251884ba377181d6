//! The operations of memories, plans and schedules.

use std::time::Duration;

use tool_core::store::{
    Erased, Erasure, LongTermStore, MemoryCorrection, MemoryFilter, MemoryHit, MemoryQuery,
    MemoryRow, MemoryScope, MemoryVector, NewMemory, NewNote, NewPlanRun, NewTask, NoteBlock,
    PlanChange, PlanChanged, PlanCreated, PlanEvent, PlanFilter, PlanRow, PlanRunId, PlanStore,
    Remembered, ScheduleStore, Scope, StoreFuture, TaskAttempt, TaskClaim, TaskFilter, TaskId,
    TaskRow, TaskRun, TaskRunFilter, TaskUpdate, ThreadId, Timestamp, Workspace,
};

use super::{HostStore, scope_of};

impl HostStore {
    /// Erases the contents of a user.
    pub fn erase_user<'a>(
        &'a self,
        workspace: &'a Workspace,
        user: &'a str,
    ) -> StoreFuture<'a, Erased> {
        let (workspace, user) = (workspace.clone(), user.to_owned());
        self.op("maintenance.erase", |store| {
            Box::pin(async move {
                let whose = Erasure::Principal {
                    workspace: &workspace,
                    principal: &user,
                };
                store.erase_contents(whose).await
            })
        })
    }
}

impl LongTermStore for HostStore {
    fn remember(&self, new: NewMemory) -> StoreFuture<'_, Remembered> {
        self.op("memory.remember", |store| {
            Box::pin(async move { store.remember(new).await })
        })
    }

    fn search_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>> {
        let (reader, query) = (reader.clone(), query.clone());
        self.op("memory.read_words", |store| {
            Box::pin(async move { store.search_memories(&reader, &query).await })
        })
    }

    fn nearest_memories<'a>(
        &'a self,
        reader: &'a MemoryScope,
        vector: &'a MemoryVector,
        query: &'a MemoryQuery,
    ) -> StoreFuture<'a, Vec<MemoryHit>> {
        let (reader, vector, query) = (reader.clone(), vector.clone(), query.clone());
        self.op("memory.read_meanings", |store| {
            Box::pin(async move { store.nearest_memories(&reader, &vector, &query).await })
        })
    }

    fn memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<MemoryRow>> {
        let (workspace, id) = (workspace.clone(), id.to_owned());
        self.op("memory.get", |store| {
            Box::pin(async move { store.memory(&workspace, &id).await })
        })
    }

    fn list_memories<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a MemoryFilter,
    ) -> StoreFuture<'a, Vec<MemoryRow>> {
        let (only, filter) = (scope.workspace().cloned(), filter.clone());
        self.op("memory.list", |store| {
            Box::pin(async move { store.list_memories(scope_of(only.as_ref()), &filter).await })
        })
    }

    fn correct_memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        correction: &'a MemoryCorrection,
    ) -> StoreFuture<'a, MemoryRow> {
        let (workspace, id, correction) = (workspace.clone(), id.to_owned(), correction.clone());
        self.op("memory.correct", |store| {
            Box::pin(async move { store.correct_memory(&workspace, &id, &correction).await })
        })
    }

    fn remove_memory<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        let (workspace, id) = (workspace.clone(), id.to_owned());
        self.op("memory.remove", |store| {
            Box::pin(async move { store.remove_memory(&workspace, &id).await })
        })
    }

    fn remove_memories<'a>(&'a self, scope: &'a MemoryScope) -> StoreFuture<'a, u64> {
        let scope = scope.clone();
        self.op("memory.remove_all", |store| {
            Box::pin(async move { store.remove_memories(&scope).await })
        })
    }

    fn memories_to_embed<'a>(
        &'a self,
        workspace: &'a Workspace,
        model: &'a str,
        limit: u32,
    ) -> StoreFuture<'a, Vec<MemoryRow>> {
        let (workspace, model) = (workspace.clone(), model.to_owned());
        self.op("memory.read_unembedded", move |store| {
            Box::pin(async move { store.memories_to_embed(&workspace, &model, limit).await })
        })
    }

    fn embed_memory<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        hash: &'a str,
        vector: &'a MemoryVector,
    ) -> StoreFuture<'a, bool> {
        let (workspace, vector) = (workspace.clone(), vector.clone());
        let (id, hash) = (id.to_owned(), hash.to_owned());
        self.op("memory.embed", |store| {
            Box::pin(async move { store.embed_memory(&workspace, &id, &hash, &vector).await })
        })
    }

    fn append_note(&self, note: NewNote) -> StoreFuture<'_, NoteBlock> {
        self.op("memory.append_note", |store| {
            Box::pin(async move { store.append_note(note).await })
        })
    }

    fn notes<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, NoteBlock> {
        let thread = thread.clone();
        self.op("memory.read_notes", |store| {
            Box::pin(async move { store.notes(&thread).await })
        })
    }
}

impl PlanStore for HostStore {
    fn create_plan(&self, new: NewPlanRun) -> StoreFuture<'_, PlanCreated> {
        self.op("plan.create", |store| {
            Box::pin(async move { store.create_plan(new).await })
        })
    }

    fn replace_plan(&self, new: NewPlanRun, reason: String) -> StoreFuture<'_, Option<PlanRow>> {
        self.op("plan.replace", |store| {
            Box::pin(async move { store.replace_plan(new, reason).await })
        })
    }

    fn change_plan<'a>(
        &'a self,
        id: &'a PlanRunId,
        change: PlanChange,
        at: Timestamp,
    ) -> StoreFuture<'a, PlanChanged> {
        let id = id.clone();
        self.op("plan.change", move |store| {
            Box::pin(async move { store.change_plan(&id, change, at).await })
        })
    }

    fn plan<'a>(&'a self, id: &'a PlanRunId) -> StoreFuture<'a, Option<PlanRow>> {
        let id = id.clone();
        self.op("plan.get", |store| {
            Box::pin(async move { store.plan(&id).await })
        })
    }

    fn active_plan<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<PlanRow>> {
        let thread = thread.clone();
        self.op("plan.get_active", |store| {
            Box::pin(async move { store.active_plan(&thread).await })
        })
    }

    fn list_plans<'a>(
        &'a self,
        thread: &'a ThreadId,
        before: Option<u64>,
        limit: u32,
    ) -> StoreFuture<'a, Vec<PlanRow>> {
        let thread = thread.clone();
        self.op("plan.list", move |store| {
            Box::pin(async move { store.list_plans(&thread, before, limit).await })
        })
    }

    fn find_plans<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a PlanFilter,
    ) -> StoreFuture<'a, Vec<PlanRow>> {
        let (workspace, filter) = (workspace.clone(), filter.clone());
        self.op("plan.list_all", |store| {
            Box::pin(async move { store.find_plans(&workspace, &filter).await })
        })
    }

    fn plan_events<'a>(
        &'a self,
        id: &'a PlanRunId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<PlanEvent>> {
        let id = id.clone();
        self.op("plan.list_events", move |store| {
            Box::pin(async move { store.plan_events(&id, after, limit).await })
        })
    }
}

impl ScheduleStore for HostStore {
    fn create_task(&self, new: NewTask) -> StoreFuture<'_, TaskRow> {
        self.op("schedule.create", |store| {
            Box::pin(async move { store.create_task(new).await })
        })
    }

    fn task<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<TaskRow>> {
        let id = id.clone();
        self.op("schedule.get", |store| {
            Box::pin(async move { store.task(&id).await })
        })
    }

    fn list_tasks<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a TaskFilter,
    ) -> StoreFuture<'a, Vec<TaskRow>> {
        let (only, filter) = (scope.workspace().cloned(), filter.clone());
        self.op("schedule.list", |store| {
            Box::pin(async move { store.list_tasks(scope_of(only.as_ref()), &filter).await })
        })
    }

    fn update_task<'a>(
        &'a self,
        id: &'a TaskId,
        update: TaskUpdate,
        expected: u64,
    ) -> StoreFuture<'a, Option<TaskRow>> {
        let id = id.clone();
        self.op("schedule.update", move |store| {
            Box::pin(async move { store.update_task(&id, update, expected).await })
        })
    }

    fn request_task_run<'a>(
        &'a self,
        id: &'a TaskId,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<TaskRow>> {
        let id = id.clone();
        self.op("schedule.request", move |store| {
            Box::pin(async move { store.request_task_run(&id, at).await })
        })
    }

    fn remove_task<'a>(&'a self, id: &'a TaskId, at: Timestamp) -> StoreFuture<'a, bool> {
        let id = id.clone();
        self.op("schedule.remove", move |store| {
            Box::pin(async move { store.remove_task(&id, at).await })
        })
    }

    fn ready_tasks(&self, at: Timestamp, limit: u32) -> StoreFuture<'_, Vec<TaskRow>> {
        self.op("schedule.list_ready", move |store| {
            Box::pin(async move { store.ready_tasks(at, limit).await })
        })
    }

    fn claim_task(&self, claim: TaskClaim) -> StoreFuture<'_, Option<(TaskRow, TaskRun)>> {
        self.op("schedule.claim", |store| {
            Box::pin(async move { store.claim_task(claim).await })
        })
    }

    fn extend_task<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (id, token) = (id.clone(), token.to_owned());
        self.op("schedule.extend", move |store| {
            Box::pin(async move { store.extend_task(&id, &token, lease, at).await })
        })
    }

    fn end_task_attempt<'a>(
        &'a self,
        id: &'a TaskId,
        token: &'a str,
        attempt: TaskAttempt,
    ) -> StoreFuture<'a, bool> {
        let (id, token) = (id.clone(), token.to_owned());
        self.op("schedule.end", |store| {
            Box::pin(async move { store.end_task_attempt(&id, &token, attempt).await })
        })
    }

    fn list_task_runs<'a>(
        &'a self,
        id: &'a TaskId,
        filter: &'a TaskRunFilter,
    ) -> StoreFuture<'a, Vec<TaskRun>> {
        let (id, filter) = (id.clone(), filter.clone());
        self.op("schedule.list_runs", |store| {
            Box::pin(async move { store.list_task_runs(&id, &filter).await })
        })
    }
}
