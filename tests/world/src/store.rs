//! The stores of one process, which add faults and delays to the shared store and ignore the operations of a dead
//! process.

use std::sync::Arc;
use std::time::Duration;

use clap::ValueEnum;
use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use tokio::runtime::Runtime;
use tool_core::store::{
    ApprovalAnswer, ApprovalFilter, ApprovalRequest, ApprovalRow, ApprovalStore, AuditFilter,
    AuditRow, AuditSink, Batch, BatchStore, Batched, Begun, CallKey, ChildChange, ChildFilter,
    ChildMessage, ChildOpened, ChildRow, ChildSender, ChildStore, EffectEnd, EffectFilter,
    EffectLedger, EffectRow, EffectState, Ended, EndedSession, Intent, Journal, LongTermStore,
    Maintenance, MemoryStore, Message, NewMessage, NewRun, PlanStore, Resolution, Role, RunBegun,
    RunEnd, RunFilter, RunId, RunProgress, RunRow, RunStop, RunStore, ScheduleStore, Scope,
    SessionEnd, Spill, SpillPart, SpillStore, Store, StoreError, StoreFuture, Switch, SwitchFilter,
    SwitchKind, SwitchStore, ThreadId, ThreadStore, Timestamp, Workspace,
};
use tool_core::turn::ModelMessage;
use tool_store::SqliteStore;
#[cfg(unix)]
use tool_store::{PostgresClock, PostgresOptions, PostgresStore};

use crate::executor::yield_now;
use crate::facts::{StoredKill, World, Written, greeted};
use crate::plan::Fault;
use crate::process::Process;

mod packs;

/// A store with all operations that a host uses.
pub trait Whole:
    Store + Maintenance + ChildStore + LongTermStore + PlanStore + ScheduleStore
{
}

impl<T: Store + Maintenance + ChildStore + LongTermStore + PlanStore + ScheduleStore> Whole for T {}

/// The part of a store that a host may keep in a separate database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All rows except the audit and the approvals, for example threads, runs, effects and switches.
    Work,
    /// The rows of the audit.
    Audit,
    /// The approvals and their answers.
    Approvals,
}

impl Part {
    /// All parts of a store.
    pub const ALL: [Self; 3] = [Self::Work, Self::Audit, Self::Approvals];

    /// Returns the part to which an operation belongs.
    fn of(operation: &str) -> Self {
        match operation.split_once('.') {
            Some(("audit", _)) => Self::Audit,
            Some(("approval", _)) => Self::Approvals,
            _ => Self::Work,
        }
    }
}

/// The store that the hosts share. A new store needs a variant here and a line in [`Shared::open`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum StoreKind {
    /// The in-memory store of `tool-store`.
    #[default]
    Memory,
    /// The SQLite store of `tool-store`.
    Sqlite,
    /// The PostgreSQL store of `tool-store`, on a server that this program starts.
    Postgres,
}

impl StoreKind {
    /// Returns whether this is the in-memory store.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    pub(crate) fn is_memory(&self) -> bool {
        *self == Self::Memory
    }
}

/// The stores that all hosts of a run share: one database for all parts, or one for each part.
#[derive(Clone)]
pub struct Shared {
    parts: [Arc<dyn Whole>; 3],
    /// The runtime of the databases. It uses real time, and the simulation's thread blocks on each operation.
    runtime: Option<Arc<Runtime>>,
}

impl Shared {
    /// Opens one store for all parts, or one for each part if `apart` is true.
    pub fn open(kind: StoreKind, apart: bool) -> Result<Self, String> {
        match kind {
            StoreKind::Memory => Self::opened(None, apart, || Ok(MemoryStore::default())),
            StoreKind::Sqlite => Self::database(apart, SqliteStore::in_memory),
            #[cfg(unix)]
            StoreKind::Postgres => Self::database(apart, postgres),
            #[cfg(not(unix))]
            StoreKind::Postgres => Err("a PostgreSQL server is started only on Unix".to_owned()),
        }
    }

    /// Opens databases on a separate runtime with real time.
    fn database<T, F, E>(apart: bool, open: impl Fn() -> F + Sync) -> Result<Self, String>
    where
        T: Whole + 'static,
        F: Future<Output = Result<T, E>>,
        E: ToString,
    {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|error| error.to_string())?;
        let runtime = Arc::new(runtime);
        let opened = || {
            let opened = std::thread::scope(|scope| {
                let open = || runtime.block_on(open()).map_err(|error| error.to_string());
                scope.spawn(open).join()
            });
            opened.unwrap_or_else(|_| Err("opening the database panicked".to_owned()))
        };
        Self::opened(Some(Arc::clone(&runtime)), apart, opened)
    }

    fn opened<T: Whole + 'static>(
        runtime: Option<Arc<Runtime>>,
        apart: bool,
        open: impl Fn() -> Result<T, String>,
    ) -> Result<Self, String> {
        let work: Arc<dyn Whole> = Arc::new(open()?);
        let parts = if apart {
            [work, Arc::new(open()?), Arc::new(open()?)]
        } else {
            [Arc::clone(&work), Arc::clone(&work), work]
        };
        Ok(Self { parts, runtime })
    }

    /// Runs one operation to its end, without faults.
    pub async fn run<T: Send + 'static>(
        &self,
        part: Part,
        call: impl FnOnce(Arc<dyn Whole>) -> BoxFuture<'static, Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let operation = call(Arc::clone(&self.parts[part as usize]));
        match &self.runtime {
            None => operation.await,
            Some(runtime) => {
                let (sender, done) = std::sync::mpsc::sync_channel(1);
                runtime.spawn(async move {
                    let _ = sender.send(operation.await);
                });
                let gone = || StoreError::Corrupt("the database's task panicked".to_owned());
                done.recv().map_err(|_| gone())?
            }
        }
    }
}

/// Opens a store in an empty database. The simulated clocks decide about leases.
#[cfg(unix)]
async fn postgres() -> Result<PostgresStore, String> {
    let url = test_support::postgres::database().await;
    let url = url.map_err(|missing| missing.to_string())?;
    let options = PostgresOptions::new(&url).map_err(|error| error.to_string())?;
    let options = options.clock(PostgresClock::Caller).connections(2);
    options.open().await.map_err(|error| error.to_string())
}

/// The store of one process, with the faults and delays of the plan.
#[derive(Clone)]
pub struct HostStore {
    shared: Shared,
    process: Arc<Process>,
    one_database: bool,
}

/// Returns the workspace and the text of a key. The pair identifies the key in the facts.
fn named(key: &CallKey) -> (String, String) {
    (key.workspace().as_str().to_owned(), key.as_str().to_owned())
}

fn lost(what: &str) -> StoreError {
    StoreError::Unavailable(format!("the simulated store {what}").into())
}

/// Returns whether an operation writes, so that it fails while the disk is full.
fn is_writing(operation: &str) -> bool {
    let (_, verb) = operation.split_once('.').unwrap_or_default();
    let reads = [
        "get",
        "page",
        "list",
        "read",
        "export",
        "version",
        "in_force",
        "enablement",
        "switches",
    ];
    !reads.iter().any(|read| verb.starts_with(read))
}

impl HostStore {
    /// Creates the store of a process. If `one_database` is true, its parts share a journal.
    pub fn new(shared: &Shared, process: &Arc<Process>, one_database: bool) -> Self {
        Self {
            shared: shared.clone(),
            process: Arc::clone(process),
            one_database,
        }
    }

    fn as_journal(&self) -> Option<Journal> {
        let store = || Arc::new(self.clone());
        self.one_database
            .then(|| Journal::new(store(), &self.process))
    }

    fn op<'a, T: Send + 'static>(
        &'a self,
        name: &'static str,
        call: impl FnOnce(Arc<dyn Whole>) -> BoxFuture<'static, Result<T, StoreError>> + Send + 'a,
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
                Some(Fault::Hang) => {
                    self.process.world.facts().audit_hangs |= name == "audit.write";
                    std::future::pending::<()>().await;
                }
                #[expect(clippy::panic, reason = "the plan causes this panic")]
                Some(Fault::Panic) => panic!("the simulated store panicked in {name}"),
                Some(Fault::Lost | Fault::SlowAfter(_)) | None => {}
            }
            if is_writing(name) && self.process.at() < self.process.world.facts().full_until {
                return Err(lost("has no room on its disk"));
            }
            if !self.process.is_alive() {
                // An operation of a dead process never reaches the store.
                return std::future::pending().await;
            }
            let done = self.shared.run(Part::of(name), call).await;
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

    /// Checks that no approval is opened for a call that has begun. A claim that is less than a second old is ignored, because the gate may not have
    /// read it yet.
    async fn look_at_question(&self, request: &ApprovalRequest) {
        let key = request.identity.key();
        let claimed = {
            let facts = self.process.world.facts();
            facts.claims.get(&named(&key)).map(|(_, at)| *at)
        };
        if claimed.is_none_or(|at| at + 1_000 > self.process.at()) {
            return;
        }
        let row = self.shared.run(Part::Work, move |store| {
            Box::pin(async move { EffectLedger::get(&*store, &key).await })
        });
        if let Ok(Some(row)) = row.await {
            let what = format!(
                "a person is asked about {}, which has begun",
                row.intent.tool
            );
            self.process.world.violated("asked_although_begun", what);
        }
    }

    /// Waits for the latency of one direction, so that other tasks run.
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
        Box::pin(async move {
            self.look_at_question(&request).await;
            let open = self.op("approval.open", |store| {
                Box::pin(async move { store.open(request).await })
            });
            open.await
        })
    }

    fn get<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
    ) -> StoreFuture<'a, Option<ApprovalRow>> {
        let (workspace, id) = (workspace.clone(), id.to_owned());
        self.op("approval.get", |store| {
            Box::pin(async move { ApprovalStore::get(&*store, &workspace, &id).await })
        })
    }

    fn answer<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, ApprovalRow> {
        let (workspace, id) = (workspace.clone(), id.to_owned());
        self.op("approval.answer", |store| {
            Box::pin(async move { store.answer(&workspace, &id, answer).await })
        })
    }

    fn spend<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        nonce: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (workspace, id, nonce) = (workspace.clone(), id.to_owned(), nonce.to_owned());
        self.op("approval.spend", move |store| {
            Box::pin(async move { store.spend(&workspace, &id, &nonce, now).await })
        })
    }

    fn withdraw<'a>(&'a self, workspace: &'a Workspace, id: &'a str) -> StoreFuture<'a, bool> {
        let (workspace, id) = (workspace.clone(), id.to_owned());
        self.op("approval.withdraw", |store| {
            Box::pin(async move { store.withdraw(&workspace, &id).await })
        })
    }

    fn assign<'a>(
        &'a self,
        workspace: &'a Workspace,
        id: &'a str,
        assignee: Option<String>,
    ) -> StoreFuture<'a, ApprovalRow> {
        let (workspace, id) = (workspace.clone(), id.to_owned());
        self.op("approval.assign", |store| {
            Box::pin(async move { store.assign(&workspace, &id, assignee).await })
        })
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ApprovalFilter,
    ) -> StoreFuture<'a, Vec<ApprovalRow>> {
        let (only, filter) = (scope.workspace().cloned(), filter.clone());
        self.op("approval.list", |store| {
            Box::pin(
                async move { ApprovalStore::list(&*store, scope_of(only.as_ref()), &filter).await },
            )
        })
    }

    fn deny_all<'a>(
        &'a self,
        workspace: &'a Workspace,
        filter: &'a ApprovalFilter,
        answer: ApprovalAnswer,
    ) -> StoreFuture<'a, u64> {
        let (workspace, filter) = (workspace.clone(), filter.clone());
        self.op("approval.deny_all", |store| {
            Box::pin(async move { store.deny_all(&workspace, &filter, answer).await })
        })
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        let only = scope.workspace().cloned();
        self.op("approval.expire", move |store| {
            Box::pin(
                async move { ApprovalStore::expire(&*store, scope_of(only.as_ref()), now).await },
            )
        })
    }
}

impl EffectLedger for HostStore {
    fn is_durable(&self) -> bool {
        true
    }

    fn journal(&self) -> Option<Journal> {
        self.as_journal()
    }

    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        let process = Arc::clone(&self.process);
        let key = intent.identity.key();
        self.op("ledger.begin", move |store| {
            Box::pin(async move {
                let begun = store.begin(intent, audit).await?;
                if !matches!(begun, Begun::Replay(_)) {
                    let mut facts = process.world.facts();
                    facts.stored_changes += 1;
                    let claim = (facts.stored_changes, process.at());
                    facts.claims.insert(named(&key), claim);
                }
                Ok(begun)
            })
        })
    }

    fn close_call(&self, intent: Intent, result: Option<String>) -> StoreFuture<'_, Begun> {
        self.op("ledger.close", |store| {
            Box::pin(async move { store.close_call(intent, result).await })
        })
    }

    fn renew<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        until: Timestamp,
    ) -> StoreFuture<'a, bool> {
        let (key, owner) = (key.clone(), owner.to_owned());
        self.op("ledger.renew", move |store| {
            Box::pin(async move { store.renew(&key, &owner, until).await })
        })
    }

    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended> {
        let (key, owner) = (key.clone(), owner.to_owned());
        self.op("ledger.end", |store| {
            Box::pin(async move { store.end(&key, &owner, end).await })
        })
    }

    fn get<'a>(&'a self, key: &'a CallKey) -> StoreFuture<'a, Option<EffectRow>> {
        let key = key.clone();
        self.op("ledger.get", |store| {
            Box::pin(async move { EffectLedger::get(&*store, &key).await })
        })
    }

    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        let (key, operator) = (key.clone(), operator.to_owned());
        self.op("ledger.resolve", move |store| {
            Box::pin(async move { store.resolve(&key, resolution, &operator, now).await })
        })
    }

    fn force<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        let (key, operator) = (key.clone(), operator.to_owned());
        self.op("ledger.force", move |store| {
            Box::pin(async move { store.force(&key, resolution, &operator, now).await })
        })
    }

    fn page<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a EffectFilter,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        let (only, filter) = (scope.workspace().cloned(), filter.clone());
        self.op("ledger.page", |store| {
            Box::pin(async move { store.page(scope_of(only.as_ref()), &filter).await })
        })
    }

    fn sweep<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, Vec<EffectRow>> {
        let only = scope.workspace().cloned();
        self.op("ledger.sweep", move |store| {
            Box::pin(async move { store.sweep(scope_of(only.as_ref()), now).await })
        })
    }

    fn list<'a>(
        &'a self,
        scope: Scope<'a>,
        state: Option<EffectState>,
    ) -> StoreFuture<'a, Vec<EffectRow>> {
        let only = scope.workspace().cloned();
        self.op("ledger.list", move |store| {
            Box::pin(
                async move { EffectLedger::list(&*store, scope_of(only.as_ref()), state).await },
            )
        })
    }
}

impl AuditSink for HostStore {
    fn journal(&self) -> Option<Journal> {
        self.as_journal()
    }

    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        self.op("audit.write", |store| {
            Box::pin(async move { store.write(rows).await })
        })
    }

    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        let (only, filter) = (scope.workspace().cloned(), filter.clone());
        self.op("audit.export", |store| {
            Box::pin(async move { store.export(scope_of(only.as_ref()), &filter).await })
        })
    }

    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        let (workspace, principal) = (workspace.clone(), principal.to_owned());
        self.op("audit.erase", |store| {
            Box::pin(async move { AuditSink::erase(&*store, &workspace, &principal).await })
        })
    }

    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        let only = scope.workspace().cloned();
        self.op("audit.retain", move |store| {
            Box::pin(async move { store.retain(scope_of(only.as_ref()), since).await })
        })
    }
}

impl BatchStore for HostStore {
    /// The fault of the first operation applies to the whole batch.
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched> {
        let world = self.process.world.clone();
        let name = match &batch {
            Batch {
                effect: Some(_), ..
            } => "ledger.end",
            Batch { audit: Some(_), .. } => "audit.write",
            _ => "thread.append",
        };
        self.op(name, |store| {
            Box::pin(async move {
                let message = batch.message.clone();
                let journal = EffectLedger::journal(&*store);
                let journal = journal.ok_or_else(|| lost("has no journal"))?;
                let done = journal.write(batch).await?;
                if let (Some(message), Some(seq)) = (message, done.message) {
                    note_message(&world, &message, seq);
                }
                Ok(done)
            })
        })
    }
}

impl ThreadStore for HostStore {
    fn journal(&self) -> Option<Journal> {
        self.as_journal()
    }

    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        let world = self.process.world.clone();
        self.op("thread.append", |store| {
            Box::pin(async move {
                let seq = store.append(message.clone()).await?;
                note_message(&world, &message, seq);
                Ok(seq)
            })
        })
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        let thread = thread.clone();
        self.op("thread.read", move |store| {
            Box::pin(async move { ThreadStore::read(&*store, &thread, after).await })
        })
    }

    fn message_at<'a>(
        &'a self,
        thread: &'a ThreadId,
        role: Role,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<u64>> {
        let thread = thread.clone();
        self.op("thread.read_time", move |store| {
            Box::pin(async move { store.message_at(&thread, role, at).await })
        })
    }

    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        let thread = thread.clone();
        self.op("thread.erase", |store| {
            Box::pin(async move { ThreadStore::erase(&*store, &thread).await })
        })
    }
}

/// Records the run that a stored message of a user begins, or the sequence number of a stored message of a model.
fn note_message(world: &World, message: &NewMessage, seq: u64) {
    if message.role == Role::User {
        let text = serde_json::from_str::<String>(&message.content);
        let run = text.ok().and_then(|text| greeted(&text));
        world.facts().greeted.extend(run);
    }
    if message.role != Role::Assistant {
        return;
    }
    let said = serde_json::from_str::<ModelMessage>(&message.content);
    if let Some(written) = said.ok().and_then(|said| Written::read(&said.text)) {
        let thread = &message.thread;
        let at = (
            thread.workspace().as_str().to_owned(),
            thread.conversation().to_owned(),
            seq,
        );
        world.facts().messages.insert(at, written);
    }
}

/// Returns the scope of one workspace, or of all workspaces.
fn scope_of(only: Option<&Workspace>) -> Scope<'_> {
    only.map_or(Scope::All, Scope::Workspace)
}

impl RunStore for HostStore {
    fn journal(&self) -> Option<Journal> {
        self.as_journal()
    }

    fn begin_run(&self, run: NewRun) -> StoreFuture<'_, RunBegun> {
        self.op("run.begin", |store| {
            Box::pin(async move { store.begin_run(run).await })
        })
    }

    fn renew_run<'a>(
        &'a self,
        id: &'a RunId,
        owner: &'a str,
        until: Timestamp,
        progress: RunProgress,
    ) -> StoreFuture<'a, Option<RunRow>> {
        let (id, owner) = (id.clone(), owner.to_owned());
        self.op("run.renew", move |store| {
            Box::pin(async move { store.renew_run(&id, &owner, until, progress).await })
        })
    }

    fn end_run<'a>(&'a self, id: &'a RunId, owner: &'a str, end: RunEnd) -> StoreFuture<'a, bool> {
        let (id, owner) = (id.clone(), owner.to_owned());
        self.op("run.end", move |store| {
            Box::pin(async move { store.end_run(&id, &owner, end).await })
        })
    }

    fn stop_run<'a>(&'a self, id: &'a RunId, stop: RunStop) -> StoreFuture<'a, Option<RunRow>> {
        let id = id.clone();
        self.op("run.stop", move |store| {
            Box::pin(async move { store.stop_run(&id, stop).await })
        })
    }

    fn get_run<'a>(&'a self, id: &'a RunId) -> StoreFuture<'a, Option<RunRow>> {
        let id = id.clone();
        self.op("run.get", |store| {
            Box::pin(async move { store.get_run(&id).await })
        })
    }

    fn list_runs<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a RunFilter,
    ) -> StoreFuture<'a, Vec<RunRow>> {
        let (only, filter) = (scope.workspace().cloned(), filter.clone());
        self.op("run.list", |store| {
            Box::pin(async move { store.list_runs(scope_of(only.as_ref()), &filter).await })
        })
    }

    fn retain_runs<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        let only = scope.workspace().cloned();
        self.op("run.retain", move |store| {
            Box::pin(async move { store.retain_runs(scope_of(only.as_ref()), since).await })
        })
    }
}

impl ChildStore for HostStore {
    fn open_child(
        &self,
        row: ChildRow,
        most: Option<u32>,
        messages: Vec<NewMessage>,
    ) -> StoreFuture<'_, ChildOpened> {
        self.op("child.open", move |store| {
            Box::pin(async move { store.open_child(row, most, messages).await })
        })
    }

    fn child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, Option<ChildRow>> {
        let thread = thread.clone();
        self.op("child.get", |store| {
            Box::pin(async move { store.child(&thread).await })
        })
    }

    fn children<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a ChildFilter,
    ) -> StoreFuture<'a, Vec<ChildRow>> {
        let (only, filter) = (scope.workspace().cloned(), filter.clone());
        self.op("child.list", |store| {
            Box::pin(async move { store.children(scope_of(only.as_ref()), &filter).await })
        })
    }

    fn message_child(
        &self,
        message: NewMessage,
        sender: ChildSender,
    ) -> StoreFuture<'_, ChildMessage> {
        self.op("child.message", move |store| {
            Box::pin(async move { store.message_child(message, sender).await })
        })
    }

    fn change_child<'a>(
        &'a self,
        thread: &'a ThreadId,
        change: ChildChange,
    ) -> StoreFuture<'a, Option<ChildRow>> {
        let thread = thread.clone();
        self.op("child.change", |store| {
            Box::pin(async move { store.change_child(&thread, change).await })
        })
    }

    fn end_session<'a>(
        &'a self,
        thread: &'a ThreadId,
        end: EndedSession,
    ) -> StoreFuture<'a, SessionEnd> {
        let thread = thread.clone();
        self.op("child.end", |store| {
            Box::pin(async move { store.end_session(&thread, end).await })
        })
    }

    fn remove_child<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, bool> {
        let thread = thread.clone();
        self.op("child.remove", |store| {
            Box::pin(async move { store.remove_child(&thread).await })
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
        workspace: &'a Workspace,
        principal: &'a str,
        handle: &'a str,
        from: u64,
        most: u64,
        now: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        let (workspace, principal) = (workspace.clone(), principal.to_owned());
        let handle = handle.to_owned();
        self.op("spill.read", move |store| {
            Box::pin(async move {
                SpillStore::read(&*store, &workspace, &principal, &handle, from, most, now).await
            })
        })
    }

    fn expire<'a>(&'a self, scope: Scope<'a>, now: Timestamp) -> StoreFuture<'a, u64> {
        let only = scope.workspace().cloned();
        self.op("spill.expire", move |store| {
            Box::pin(async move { SpillStore::expire(&*store, scope_of(only.as_ref()), now).await })
        })
    }
}

impl SwitchStore for HostStore {
    fn is_durable(&self) -> bool {
        true
    }

    fn set(&self, switch: Switch) -> StoreFuture<'_, bool> {
        let process = Arc::clone(&self.process);
        self.op("switch.set", move |store| {
            Box::pin(async move {
                let (kills, on) = (switch.key.kind == SwitchKind::Kill, switch.on);
                let tool = switch.key.tool.clone();
                let changed = store.set(switch).await?;
                if kills {
                    let mut facts = process.world.facts();
                    facts.stored_changes += 1;
                    let now = (facts.stored_changes, process.at());
                    let mut open = facts.stored_kills.iter_mut();
                    let open = open.find(|(of, kill)| *of == tool && kill.until.is_none());
                    match open {
                        Some((_, kill)) if !on => kill.until = Some(now),
                        None if on => {
                            let until = None;
                            facts
                                .stored_kills
                                .push((tool, StoredKill { from: now, until }));
                        }
                        _ => {}
                    }
                }
                Ok(changed)
            })
        })
    }

    fn version(&self) -> StoreFuture<'_, u64> {
        self.op("switch.version", |store| {
            Box::pin(async move { store.version().await })
        })
    }

    fn in_force(&self) -> StoreFuture<'_, Vec<Switch>> {
        self.op("switch.in_force", |store| {
            Box::pin(async move { store.in_force().await })
        })
    }

    fn enablement<'a>(&'a self, workspace: &'a Workspace) -> StoreFuture<'a, Vec<Switch>> {
        let workspace = workspace.clone();
        self.op("switch.enablement", move |store| {
            Box::pin(async move { store.enablement(&workspace).await })
        })
    }

    fn switches<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a SwitchFilter,
    ) -> StoreFuture<'a, Vec<Switch>> {
        let (only, filter) = (scope.workspace().cloned(), filter.clone());
        self.op("switch.switches", |store| {
            Box::pin(async move { store.switches(scope_of(only.as_ref()), &filter).await })
        })
    }

    fn retire<'a>(&'a self, scope: Scope<'a>, since: Timestamp, most: u32) -> StoreFuture<'a, u64> {
        let only = scope.workspace().cloned();
        self.op("switch.retire", move |store| {
            Box::pin(async move { store.retire(scope_of(only.as_ref()), since, most).await })
        })
    }
}
