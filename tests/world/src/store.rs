//! The stores of one process: the shared store behind faults, delays and the cut that death makes.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use tool_core::store::{
    Answer, ApprovalFilter, ApprovalRequest, ApprovalRow, ApprovalStore, AuditFilter, AuditRow,
    AuditSink, Begun, EffectEnd, EffectLedger, EffectRow, EffectState, Ended, Intent, MemoryStore,
    Message, NewMessage, Resolution, Spill, SpillPart, SpillStore, Store, StoreError, StoreFuture,
    ThreadStore, Timestamp,
};
use tool_store::SqliteStore;

use crate::executor::yield_now;
use crate::plan::Fault;
use crate::process::Process;

/// The store that all hosts of a run share.
#[derive(Clone)]
pub enum Shared {
    /// In memory.
    Memory(Arc<dyn Store>),
    /// SQLite, on a runtime with real time. The simulation's thread blocks on each operation.
    Sqlite(Arc<dyn Store>, tokio::runtime::Handle),
}

impl Shared {
    /// A store in memory.
    pub fn memory() -> Self {
        Self::Memory(Arc::new(MemoryStore::default()))
    }

    /// A SQLite database in memory.
    pub fn sqlite(runtime: &tokio::runtime::Runtime) -> Result<Self, String> {
        let handle = runtime.handle().clone();
        let opened = std::thread::scope(|scope| {
            let open = scope.spawn(|| runtime.block_on(SqliteStore::in_memory()));
            open.join()
        });
        match opened {
            Ok(Ok(store)) => Ok(Self::Sqlite(Arc::new(store), handle)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("opening SQLite panicked".to_owned()),
        }
    }

    /// Runs one operation to its end, without faults.
    pub async fn run<T: Send + 'static>(
        &self,
        call: impl FnOnce(Arc<dyn Store>) -> BoxFuture<'static, Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        match self {
            Self::Memory(store) => call(Arc::clone(store)).await,
            Self::Sqlite(store, runtime) => {
                let (sender, done) = std::sync::mpsc::sync_channel(1);
                let operation = call(Arc::clone(store));
                runtime.spawn(async move {
                    let _ = sender.send(operation.await);
                });
                let gone = || StoreError::Corrupt("SQLite's task panicked".to_owned());
                done.recv().map_err(|_| gone())?
            }
        }
    }
}

/// The store as one process sees it.
#[derive(Clone)]
pub struct HostStore {
    shared: Shared,
    process: Arc<Process>,
}

fn lost(what: &str) -> StoreError {
    StoreError::Unavailable(format!("the simulated store {what}").into())
}

impl HostStore {
    /// The store of a process.
    pub fn new(shared: &Shared, process: &Arc<Process>) -> Self {
        Self {
            shared: shared.clone(),
            process: Arc::clone(process),
        }
    }

    fn op<'a, T: Send + 'static>(
        &'a self,
        name: &'static str,
        call: impl FnOnce(Arc<dyn Store>) -> BoxFuture<'static, Result<T, StoreError>> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            self.moment().await;
            let fault = self.process.fault(name);
            if let Some(fault) = fault {
                self.process.note(&format!("store {name}: {fault:?}"));
            }
            match fault {
                Some(Fault::Before) => return Err(lost("failed before it wrote")),
                Some(Fault::SlowBefore(ms)) => tokio::time::sleep(Duration::from_millis(ms)).await,
                Some(Fault::Hang) => std::future::pending().await,
                #[expect(clippy::panic, reason = "the fault that was asked for")]
                Some(Fault::Panic) => panic!("the simulated store panicked in {name}"),
                Some(Fault::Lost | Fault::SlowAfter(_)) | None => {}
            }
            if !self.process.is_alive() {
                // A dead process reaches nothing.
                return std::future::pending().await;
            }
            let done = self.shared.run(call).await;
            let word = if done.is_ok() { "ok" } else { "refused" };
            self.process.note(&format!("store {name}: {word}"));
            match fault {
                Some(Fault::Lost) => return Err(lost("wrote and its answer was lost")),
                Some(Fault::SlowAfter(ms)) => tokio::time::sleep(Duration::from_millis(ms)).await,
                _ => {}
            }
            self.moment().await;
            done
        })
    }

    /// The way to the store and back takes a moment, in which others run.
    async fn moment(&self) {
        let latency = self.process.latency();
        if latency.is_zero() {
            yield_now().await;
        } else {
            tokio::time::sleep(latency).await;
        }
    }
}

impl ApprovalStore for HostStore {
    fn is_durable(&self) -> bool {
        true
    }

    fn open(&self, request: ApprovalRequest) -> StoreFuture<'_, ()> {
        self.op("approval.open", |store| {
            Box::pin(async move { store.open(request).await })
        })
    }

    fn get<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<ApprovalRow>> {
        let id = id.to_owned();
        self.op("approval.get", |store| {
            Box::pin(async move { ApprovalStore::get(&*store, &id).await })
        })
    }

    fn answer<'a>(&'a self, id: &'a str, answer: Answer) -> StoreFuture<'a, ApprovalRow> {
        let id = id.to_owned();
        self.op("approval.answer", |store| {
            Box::pin(async move { store.answer(&id, answer).await })
        })
    }

    fn spend<'a>(&'a self, id: &'a str, nonce: &'a str, now: Timestamp) -> StoreFuture<'a, bool> {
        let (id, nonce) = (id.to_owned(), nonce.to_owned());
        self.op("approval.spend", move |store| {
            Box::pin(async move { store.spend(&id, &nonce, now).await })
        })
    }

    fn withdraw<'a>(&'a self, id: &'a str) -> StoreFuture<'a, bool> {
        let id = id.to_owned();
        self.op("approval.withdraw", |store| {
            Box::pin(async move { store.withdraw(&id).await })
        })
    }

    fn assign<'a>(&'a self, id: &'a str, assignee: Option<String>) -> StoreFuture<'a, ApprovalRow> {
        let id = id.to_owned();
        self.op("approval.assign", |store| {
            Box::pin(async move { store.assign(&id, assignee).await })
        })
    }

    fn list<'a>(&'a self, filter: &'a ApprovalFilter) -> StoreFuture<'a, Vec<ApprovalRow>> {
        let filter = filter.clone();
        self.op("approval.list", |store| {
            Box::pin(async move { ApprovalStore::list(&*store, &filter).await })
        })
    }

    fn deny_all<'a>(&'a self, filter: &'a ApprovalFilter, answer: Answer) -> StoreFuture<'a, u64> {
        let filter = filter.clone();
        self.op("approval.deny_all", |store| {
            Box::pin(async move { store.deny_all(&filter, answer).await })
        })
    }

    fn expire(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        self.op("approval.expire", move |store| {
            Box::pin(async move { ApprovalStore::expire(&*store, now).await })
        })
    }
}

impl EffectLedger for HostStore {
    fn is_durable(&self) -> bool {
        true
    }

    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        self.op("ledger.begin", |store| {
            Box::pin(async move { store.begin(intent, audit).await })
        })
    }

    fn renew<'a>(
        &'a self,
        key: &'a str,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (key, owner) = (key.to_owned(), owner.to_owned());
        self.op("ledger.renew", move |store| {
            Box::pin(async move { store.renew(&key, &owner, until).await })
        })
    }

    fn end<'a>(&'a self, key: &'a str, owner: &'a str, end: EffectEnd) -> StoreFuture<'a, Ended> {
        let (key, owner) = (key.to_owned(), owner.to_owned());
        self.op("ledger.end", |store| {
            Box::pin(async move { store.end(&key, &owner, end).await })
        })
    }

    fn get<'a>(&'a self, key: &'a str) -> StoreFuture<'a, Option<EffectRow>> {
        let key = key.to_owned();
        self.op("ledger.get", |store| {
            Box::pin(async move { EffectLedger::get(&*store, &key).await })
        })
    }

    fn resolve<'a>(
        &'a self,
        key: &'a str,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        let (key, operator) = (key.to_owned(), operator.to_owned());
        self.op("ledger.resolve", move |store| {
            Box::pin(async move { store.resolve(&key, resolution, &operator, now).await })
        })
    }

    fn sweep(&self, now: Timestamp) -> StoreFuture<'_, Vec<EffectRow>> {
        self.op("ledger.sweep", move |store| {
            Box::pin(async move { store.sweep(now).await })
        })
    }

    fn list<'a>(
        &'a self,
        tenant: Option<&'a str>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        let tenant = tenant.map(str::to_owned);
        self.op("ledger.list", move |store| {
            Box::pin(async move { EffectLedger::list(&*store, tenant.as_deref(), state).await })
        })
    }
}

impl AuditSink for HostStore {
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        self.op("audit.write", |store| {
            Box::pin(async move { store.write(rows).await })
        })
    }

    fn export<'a>(&'a self, filter: &'a AuditFilter) -> StoreFuture<'a, Vec<AuditRow>> {
        let filter = filter.clone();
        self.op("audit.export", |store| {
            Box::pin(async move { store.export(&filter).await })
        })
    }

    fn erase<'a>(&'a self, tenant: &'a str, principal: &'a str) -> StoreFuture<'a, u64> {
        let (tenant, principal) = (tenant.to_owned(), principal.to_owned());
        self.op("audit.erase", |store| {
            Box::pin(async move { AuditSink::erase(&*store, &tenant, &principal).await })
        })
    }

    fn retain(&self, since: Timestamp) -> StoreFuture<'_, u64> {
        self.op("audit.retain", move |store| {
            Box::pin(async move { store.retain(since).await })
        })
    }
}

impl ThreadStore for HostStore {
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        self.op("thread.append", |store| {
            Box::pin(async move { store.append(message).await })
        })
    }

    fn read<'a>(&'a self, thread: &'a str, after: Option<u64>) -> StoreFuture<'a, Vec<Message>> {
        let thread = thread.to_owned();
        self.op("thread.read", move |store| {
            Box::pin(async move { ThreadStore::read(&*store, &thread, after).await })
        })
    }

    fn erase<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, u64> {
        let thread = thread.to_owned();
        self.op("thread.erase", |store| {
            Box::pin(async move { ThreadStore::erase(&*store, &thread).await })
        })
    }
}

impl SpillStore for HostStore {
    fn put(&self, spill: Spill) -> StoreFuture<'_, ()> {
        self.op("spill.put", |store| {
            Box::pin(async move { store.put(spill).await })
        })
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
        let (handle, tenant) = (handle.to_owned(), tenant.to_owned());
        let principal = principal.to_owned();
        self.op("spill.read", move |store| {
            Box::pin(async move {
                SpillStore::read(&*store, &handle, &tenant, &principal, from, most, now).await
            })
        })
    }

    fn expire(&self, now: Timestamp) -> StoreFuture<'_, u64> {
        self.op("spill.expire", move |store| {
            Box::pin(async move { SpillStore::expire(&*store, now).await })
        })
    }
}
