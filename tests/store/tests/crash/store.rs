//! A store with points before, during and after each call except `renew_run` and `get_run`, at which the process can die.

use std::sync::Arc;

use tool_core::store::*;
use tool_store::SqliteStore;

use crate::kill::around;

/// If the second field is `Some`, the stores share a journal, as parts of one database.
#[derive(Clone)]
pub(crate) struct Deadly(pub(crate) SqliteStore, pub(crate) Option<Arc<()>>);

impl Deadly {
    fn as_journal(&self) -> Option<Journal> {
        let database = self.1.as_ref()?;
        Some(Journal::new(Arc::new(self.clone()), database))
    }
}

impl BatchStore for Deadly {
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched> {
        around("batch", self.0.write_batch(batch))
    }
}

impl ApprovalStore for Deadly {
    fn is_durable(&self) -> bool {
        ApprovalStore::is_durable(&self.0)
    }
    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        around("approval.open", self.0.open(request))
    }
    fn get<'a>(&'a self, own: &'a Workspace, id: &'a str) -> StoreFuture<'a, Option<ApprovalRow>> {
        around("approval.get", ApprovalStore::get(&self.0, own, id))
    }
    fn answer<'a>(
        &'a self,
        own: &'a Workspace,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, ApprovalRow> {
        around("approval.answer", self.0.answer(own, id, answer))
    }
    fn spend<'a>(
        &'a self,
        own: &'a Workspace,
        id: &'a str,
        nonce: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        around("approval.spend", self.0.spend(own, id, nonce, now))
    }
    fn withdraw<'a>(&'a self, own: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        around("approval.withdraw", self.0.withdraw(own, id))
    }
    fn assign<'a>(
        &'a self,
        own: &'a Workspace,
        id: &'a str,
        assignee: Option<String>,
    ) -> StoreFuture<'a, ApprovalRow> {
        around("approval.assign", self.0.assign(own, id, assignee))
    }
    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> StoreFuture<'a, Vec<ApprovalRow>> {
        around("approval.list", ApprovalStore::list(&self.0, scope, filter))
    }
    fn deny_all<'a>(
        &'a self,
        own: &'a Workspace,
        filter: &'a ApprovalFilter,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, u64> {
        around("approval.deny_all", self.0.deny_all(own, filter, answer))
    }
    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        around(
            "approval.expire",
            ApprovalStore::expire(&self.0, scope, now),
        )
    }
}

impl EffectLedger for Deadly {
    fn is_durable(&self) -> bool {
        EffectLedger::is_durable(&self.0)
    }
    fn journal(&self) -> Option<Journal> {
        self.as_journal()
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        around("ledger.begin", self.0.begin(intent, audit))
    }
    fn close_call(&self, intent: Intent, result: Option<String>) -> StoreFuture<'_, Begun> {
        around("ledger.close", self.0.close_call(intent, result))
    }
    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        around("ledger.renew", self.0.renew(key, owner, until))
    }
    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended> {
        around("ledger.end", self.0.end(key, owner, end))
    }
    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        around("ledger.get", EffectLedger::get(&self.0, key))
    }
    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        around(
            "ledger.resolve",
            self.0.resolve(key, resolution, operator, now),
        )
    }
    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>> {
        around("ledger.sweep", self.0.sweep(scope, now))
    }
    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        around("ledger.list", EffectLedger::list(&self.0, scope, state))
    }
}

impl AuditSink for Deadly {
    fn journal(&self) -> Option<Journal> {
        self.as_journal()
    }
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        around("audit.write", self.0.write(rows))
    }
    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        around("audit.export", self.0.export(scope, filter))
    }
    fn erase<'a>(&'a self, own: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        around("audit.erase", AuditSink::erase(&self.0, own, principal))
    }
    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        around("audit.retain", self.0.retain(scope, since))
    }
}

impl ThreadStore for Deadly {
    fn journal(&self) -> Option<Journal> {
        self.as_journal()
    }
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        around("thread.append", self.0.append(message))
    }
    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        around("thread.read", ThreadStore::read(&self.0, thread, after))
    }
    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        around("thread.erase", ThreadStore::erase(&self.0, thread))
    }
}

impl RunStore for Deadly {
    fn journal(&self) -> Option<Journal> {
        self.as_journal()
    }
    fn begin_run(&self, run: NewRun) -> StoreFuture<'_, RunBegun> {
        around("run.begin", self.0.begin_run(run))
    }
    fn renew_run<'a>(
        &'a self,
        id: &'a RunId,
        owner: &'a str,
        until: Timestamp,
        progress: RunProgress,
    ) -> StoreFuture<'a, Option<RunRow>> {
        // A renewal is not a point: its time varies, and the points of a script must be the same in every process.
        self.0.renew_run(id, owner, until, progress)
    }
    fn end_run<'a>(&'a self, id: &'a RunId, owner: &'a str, end: RunEnd) -> StoreFuture<'a, bool> {
        around("run.end", self.0.end_run(id, owner, end))
    }
    fn stop_run<'a>(&'a self, id: &'a RunId, stop: RunStop) -> StoreFuture<'a, Option<RunRow>> {
        around("run.stop", self.0.stop_run(id, stop))
    }
    fn get_run<'a>(&'a self, id: &'a RunId) -> StoreFuture<'a, Option<RunRow>> {
        // This is not a point, because the driver calls it in place of a renewal.
        self.0.get_run(id)
    }
    fn list_runs<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a RunFilter,
    ) -> StoreFuture<'a, Vec<RunRow>> {
        around("run.list", self.0.list_runs(scope, filter))
    }
    fn retain_runs<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        around("run.retain", self.0.retain_runs(scope, since))
    }
}

impl SpillStore for Deadly {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        around("spill.put", self.0.put(spill))
    }
    fn read<'a>(
        &'a self,
        own: &'a Workspace,
        principal: &'a str,
        handle: &'a str,
        from: u64,
        most: u64,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        let read = SpillStore::read(&self.0, own, principal, handle, from, most, now);
        around("spill.read", read)
    }
    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        around("spill.expire", SpillStore::expire(&self.0, scope, now))
    }
}
