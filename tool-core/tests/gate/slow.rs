//! A store that yields several times before and after each step.

use tool_core::store::{
    AuditFilter, AuditRow, AuditSink, Begun, CallKey, EffectEnd, EffectLedger, EffectRow,
    EffectState, Ended, Intent, MemoryStore, Resolution, Scope, StoreFuture, Timestamp, Workspace,
};

#[derive(Clone)]
pub(crate) struct Slow {
    store: MemoryStore,
    polls: u32,
}

impl Slow {
    pub(crate) fn new(store: MemoryStore, polls: u32) -> Self {
        Self { store, polls }
    }

    fn slowly<'a, T: Send + 'a>(&self, step: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        let polls = self.polls;
        Box::pin(async move {
            for _ in 0..polls {
                tokio::task::yield_now().await;
            }
            let done = step.await;
            for _ in 0..polls {
                tokio::task::yield_now().await;
            }
            done
        })
    }
}

impl EffectLedger for Slow {
    fn is_durable(&self) -> bool {
        false
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        self.slowly(self.store.begin(intent, audit))
    }
    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        self.slowly(self.store.renew(key, owner, until))
    }
    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended> {
        self.slowly(EffectLedger::end(&self.store, key, owner, end))
    }
    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        self.slowly(EffectLedger::get(&self.store, key))
    }
    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        self.slowly(self.store.resolve(key, resolution, operator, now))
    }
    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>> {
        self.slowly(self.store.sweep(scope, now))
    }
    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        self.slowly(EffectLedger::list(&self.store, scope, state))
    }
}

impl AuditSink for Slow {
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        self.slowly(self.store.write(rows))
    }
    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        self.slowly(self.store.export(scope, filter))
    }
    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        self.slowly(AuditSink::erase(&self.store, workspace, principal))
    }
    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        self.slowly(self.store.retain(scope, since))
    }
}
