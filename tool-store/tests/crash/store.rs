//! A store whose every call is a place to die.

use tool_core::store::*;
use tool_store::SqliteStore;

use crate::kill::around;

#[derive(Clone)]
pub(crate) struct Deadly(pub(crate) SqliteStore);

impl ApprovalStore for Deadly {
    fn is_durable(&self) -> bool {
        ApprovalStore::is_durable(&self.0)
    }
    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        around("approval.open", self.0.open(request))
    }
    fn get<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<ApprovalRow>> {
        around("approval.get", ApprovalStore::get(&self.0, id))
    }
    fn answer<'a>(&'a self, id: &'a str, answer: Answer) -> StoreFuture<'a, ApprovalRow> {
        around("approval.answer", self.0.answer(id, answer))
    }
    fn spend<'a>(&'a self, id: &'a str, nonce: &'a str, now: Timestamp) -> StoreFuture<'a, bool> {
        around("approval.spend", self.0.spend(id, nonce, now))
    }
    fn withdraw<'a>(&'a self, id: &'a str) -> StoreFuture<'a, bool> {
        around("approval.withdraw", self.0.withdraw(id))
    }
    fn assign<'a>(&'a self, id: &'a str, assignee: Option<String>) -> StoreFuture<'a, ApprovalRow> {
        around("approval.assign", self.0.assign(id, assignee))
    }
    fn list<'a>(&'a self, filter: &'a ApprovalFilter) -> StoreFuture<'a, Vec<ApprovalRow>> {
        around("approval.list", ApprovalStore::list(&self.0, filter))
    }
    fn deny_all<'a>(&'a self, filter: &'a ApprovalFilter, answer: Answer) -> StoreFuture<'a, u64> {
        around("approval.deny_all", self.0.deny_all(filter, answer))
    }
    fn expire(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        around("approval.expire", ApprovalStore::expire(&self.0, now))
    }
}

impl EffectLedger for Deadly {
    fn is_durable(&self) -> bool {
        EffectLedger::is_durable(&self.0)
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        around("ledger.begin", self.0.begin(intent, audit))
    }
    fn renew<'a>(
        &'a self,
        key: &'a str,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        around("ledger.renew", self.0.renew(key, owner, until))
    }
    fn end<'a>(&'a self, key: &'a str, owner: &'a str, end: EffectEnd) -> StoreFuture<'a, Ended> {
        around("ledger.end", self.0.end(key, owner, end))
    }
    fn get<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<EffectRow>> {
        around("ledger.get", EffectLedger::get(&self.0, key))
    }
    fn resolve<'a>(
        &'a self,
        key: &'a str,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        around(
            "ledger.resolve",
            self.0.resolve(key, resolution, operator, now),
        )
    }
    fn sweep(&self, now: Timestamp) -> StoreFuture<'_, Vec<EffectRow>> {
        around("ledger.sweep", self.0.sweep(now))
    }
    fn list<'a>(
        &'a self,
        tenant: Option<&'a str>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        around("ledger.list", EffectLedger::list(&self.0, tenant, state))
    }
}

impl AuditSink for Deadly {
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        around("audit.write", self.0.write(rows))
    }
    fn export<'a>(&'a self, filter: &'a AuditFilter) -> StoreFuture<'a, Vec<AuditRow>> {
        around("audit.export", self.0.export(filter))
    }
    fn erase<'a>(&'a self, tenant: &'a str, principal: &'a str) -> StoreFuture<'a, u64> {
        around("audit.erase", AuditSink::erase(&self.0, tenant, principal))
    }
    fn retain(&self, since: Timestamp) -> StoreFuture<'_, u64> {
        around("audit.retain", self.0.retain(since))
    }
}

impl ThreadStore for Deadly {
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        around("thread.append", self.0.append(message))
    }
    fn read<'a>(&'a self, thread: &'a str, after: Option<u64>) -> StoreFuture<'a, Vec<Message>> {
        around("thread.read", ThreadStore::read(&self.0, thread, after))
    }
    fn erase<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, u64> {
        around("thread.erase", ThreadStore::erase(&self.0, thread))
    }
}

impl SpillStore for Deadly {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        around("spill.put", self.0.put(spill))
    }
    fn read<'a>(
        &'a self,
        handle: &'a str,
        tenant: &'a str,
        principal: &'a str,
        from: u64,
        most: u64,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        let read = SpillStore::read(&self.0, handle, tenant, principal, from, most, now);
        around("spill.read", read)
    }
    fn expire(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        around("spill.expire", SpillStore::expire(&self.0, now))
    }
}
