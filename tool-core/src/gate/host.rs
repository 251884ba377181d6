//! The host's gate: approvals, effect ledger, audit and hooks between a visible tool and its body.

use std::any::Any;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::approval::Approvals;
use super::sweeper::Sweeper;
use crate::audit::{Audit, AuditBuffer};
use crate::call::stored;
use crate::context::{CallScope, ToolContext};
use crate::env;
use crate::error::ToolError;
use crate::limits::{Limits, SharedLimits};
use crate::store::{
    AuditNote, AuditRow, CallId, CallKey, EffectClaim, EffectLedger, EffectRow, Journal,
    Resolution, StoreError, Timestamp,
};
use crate::sync::Door;

/// Default lease of a running call on its ledger row.
const LEASE: Duration = Duration::from_secs(30);

/// Maximum time that [`Gate::drain`] waits for the last writes.
const LAST_WRITES: Duration = Duration::from_secs(1);

/// The steps of a call before and after its body: approvals, limits, the effect ledger, the audit and hooks. A gate can also stop calls.
///
/// A host builds one gate and attaches it to the tools of each turn with [`Toolset::through`](crate::Toolset::through).
///
/// ```standalone_crate
/// use tool_core::{Approvals, Audit, Gate, Registry, ToolContext, Rules};
/// use tool_core::store::MemoryStore;
/// # use tool_core::tool;
/// # /// Returns zero, for this example.
/// # #[tool] fn nothing() -> u8 { 0 }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::default();
/// let gate = Gate::builder()
///     .approvals(Approvals::builder(store.clone()).build()?)
///     .ledger(store.clone())
///     .audit(Audit::best_effort(store))
///     .build();
/// let cx = ToolContext::builder().user("ann").build();
/// let tools = Registry::linked()?.toolset(&cx, &Rules::default()).through(&gate);
/// # let _ = tools;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias("guardrail", "middleware", "permission"))]
pub struct Gate(Arc<Inner>);

struct Inner {
    approvals: Option<Approvals>,
    ledger: Option<Ledger>,
    audit: Audit,
    /// The journal that the ledger and the required audit share. If only one of them is set, this is its journal. `None` if both are set and do not
    /// share a journal.
    journal: Option<Journal>,
    hooks: Option<Kept>,
    limits: Option<Limits>,
    shared_limits: Option<SharedLimits>,
    retry: Retry,
    content: bool,
    running: Door<ToolContext>,
    /// Number of audit rows that are being written while no running call waits for them.
    writes: AtomicUsize,
    /// Notified when the last running call or the last of these writes ends.
    idle: Notify,
    sweeper: Sweeper,
    /// Cancelled when the sweeper has to stop.
    sweeping: CancellationToken,
    /// Whether a sweeper task is running.
    is_swept: AtomicBool,
}

/// The hooks around each run. The gate only stores them. Their type is erased, because it contains the type of a permitted run, which a later module defines.
type Kept = Box<dyn Any + Send + Sync>;

/// The effect ledger, with the name under which this process writes to it.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub(crate) store: Arc<dyn EffectLedger>,
    owner: Arc<str>,
    runs: Arc<AtomicU64>,
    pub(crate) lease: Duration,
}

impl Ledger {
    /// Returns a unique owner name for one run of one call.
    pub(crate) fn run(&self) -> String {
        format!(
            "{}/{}",
            self.owner,
            self.runs.fetch_add(1, Ordering::Relaxed)
        )
    }
}

/// Retries of a read-only or idempotent tool whose run ended with an error of the kind [`Failed`](crate::ErrorKind::Failed). A run is not retried if
/// the deadline of the call would pass during the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Maximum number of attempts, the first one included; 1 disables retries.
    pub attempts: u32,
    /// The wait before the second attempt. It doubles with each further attempt. If the error contains a time to wait, that time is used instead.
    pub wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 1,
            wait: Duration::from_millis(200),
        }
    }
}

/// Builder of a [`Gate`].
#[must_use]
#[derive(Default)]
pub struct GateBuilder {
    approvals: Option<Approvals>,
    ledger: Option<Arc<dyn EffectLedger>>,
    owner: Option<String>,
    lease: Option<Duration>,
    audit: Audit,
    hooks: Option<Kept>,
    limits: Option<Limits>,
    shared_limits: Option<SharedLimits>,
    retry: Retry,
    content: bool,
    sweeper: Sweeper,
}

impl GateBuilder {
    /// Sets the approvals, through which calls request an approval. Without them, the gate refuses calls that need an approval.
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.approvals = Some(approvals);
        self
    }

    /// Sets the ledger in which calls that may have an effect, and calls that a person has approved, are recorded before they run. Without a ledger,
    /// nothing prevents an effect from happening twice.
    pub fn ledger(self, store: impl EffectLedger) -> Self {
        self.shared_ledger(Arc::new(store))
    }

    /// Sets a ledger that is shared with other owners.
    pub fn shared_ledger(mut self, store: Arc<dyn EffectLedger>) -> Self {
        self.ledger = Some(crate::store::shield::ledger(store));
        self
    }

    /// Sets the name of this process in the ledger; defaults to a random name.
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// Sets how long a ledger row stays valid without being renewed; defaults to 30 seconds, and is at least 30 milliseconds. A running
    /// call renews its row three times in that span. When the lease expires, the effect counts as ambiguous.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// Sets how the ledger and the approvals are swept and which expired data is purged; defaults to [`Sweeper::default`], which purges nothing.
    pub fn sweeper(mut self, sweeper: Sweeper) -> Self {
        self.sweeper = sweeper;
        self
    }

    /// Sets how calls are audited; defaults to [`Audit::Off`].
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = audit.shielded();
        self
    }

    /// Sets rate limits and quotas. A call that waits for an approval counts once, and again when it is resumed.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// Sets limits that hold over all processes that share their store. They apply in addition to [`limits`](Self::limits). A call whose body does
    /// not begin, for example because it waits for an approval, returns the units that it took, except units of rates.
    pub fn shared_limits(mut self, limits: SharedLimits) -> Self {
        self.shared_limits = Some(limits);
        self
    }

    /// Sets how a read-only or idempotent tool is retried after an error of the kind [`Failed`](crate::ErrorKind::Failed); by default, it is not
    /// retried.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets whether the spans of calls contain arguments and results; the default is false. The turn's secrets are redacted in them, but other private data is
    /// not, so the stored spans have to be protected.
    pub fn trace_content(mut self, on: bool) -> Self {
        self.content = on;
        self
    }

    /// Replaces the hooks around each run. `change` receives the previous hooks, if they are of this type.
    pub(crate) fn hooks<H: Send + Sync + 'static>(
        mut self,
        change: impl FnOnce(Option<H>) -> H,
    ) -> Self {
        let before = self.hooks.take().and_then(|hooks| hooks.downcast().ok());
        self.hooks = Some(Box::new(change(before.map(|hooks| *hooks))));
        self
    }

    /// Builds the gate from these settings.
    pub fn build(self) -> Gate {
        let lease = self.lease.unwrap_or(LEASE).max(Duration::from_millis(30));
        let owner = self.owner;
        let ledger = self.ledger.map(|store| Ledger {
            store,
            // If no random bytes are available, the process id and the time distinguish owners.
            owner: owner
                .or_else(|| super::random::random_id().ok())
                .unwrap_or_else(|| {
                    format!(
                        "{}-{}",
                        std::process::id(),
                        crate::store::Timestamp::now().as_millis()
                    )
                })
                .into(),
            runs: Arc::default(),
            lease,
        });
        let gate = Gate(Arc::new(Inner {
            approvals: self.approvals,
            journal: journal(ledger.as_ref(), &self.audit),
            ledger,
            audit: self.audit,
            hooks: self.hooks,
            limits: self.limits,
            shared_limits: self.shared_limits,
            retry: self.retry,
            content: self.content,
            running: Door::new(),
            writes: AtomicUsize::new(0),
            idle: Notify::new(),
            sweeper: self.sweeper,
            sweeping: CancellationToken::new(),
            is_swept: AtomicBool::new(false),
        }));
        gate.tend();
        gate
    }
}

impl Gate {
    /// Returns a builder. A gate without any settings refuses only calls that need an approval.
    pub fn builder() -> GateBuilder {
        GateBuilder::default()
    }

    /// Returns whether both are clones of one gate.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the gate with its type erased, because the module of call scopes cannot name the type.
    pub(crate) fn erased(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::<Inner>::clone(&self.0)
    }

    /// Returns the gate of the scope of a call.
    pub(crate) fn of_scope(scope: &CallScope) -> Option<Self> {
        let gate = Arc::clone(scope.gate.as_ref()?);
        gate.downcast().ok().map(Self)
    }

    /// Returns the approvals, if the gate has any.
    pub fn approvals(&self) -> Option<&Approvals> {
        self.0.approvals.as_ref()
    }

    /// Returns the effect ledger, if the gate has one.
    pub fn effects(&self) -> Option<&dyn EffectLedger> {
        self.0.ledger.as_ref().map(|ledger| &*ledger.store)
    }

    /// Returns the audit of the gate.
    pub fn audit(&self) -> &Audit {
        &self.0.audit
    }

    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        self.0.ledger.as_ref()
    }

    /// Returns the journal in which the end of a call is one transaction; see `Inner::journal`.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.0.journal.as_ref()
    }

    /// Returns the hooks around each run, if they are of this type.
    pub(crate) fn hooks<H: 'static>(&self) -> Option<&H> {
        self.0.hooks.as_ref()?.downcast_ref()
    }

    pub(crate) fn limits(&self) -> Option<&Limits> {
        self.0.limits.as_ref()
    }

    pub(crate) fn shared_limits(&self) -> Option<&SharedLimits> {
        self.0.shared_limits.as_ref()
    }

    pub(crate) fn traces_content(&self) -> bool {
        self.0.content
    }

    pub(crate) fn retry(&self) -> Retry {
        self.0.retry
    }

    /// Settles an effect that the ledger reports as ambiguous. `key` is the key of the effect's call. The row then contains the name in `operator`.
    ///
    /// `Succeeded` contains the output as JSON text, `Failed` contains the error text for the model; a later dispatch of that call returns
    /// it. `Rerun` lets the call run once more; that attempt has its own audit row ([`CallId::attempt`]).
    ///
    /// The audit gets a separate row that names the operator. If the audit is required and that row cannot be written, the effect is not
    /// settled.
    pub async fn resolve(
        &self,
        key: &CallKey,
        resolution: Resolution,
        operator: &str,
    ) -> Result<EffectRow, ToolError> {
        let Some(ledger) = self.ledger() else {
            return Err(ToolError::unavailable("the effect ledger"));
        };
        let resolution = Self::stored_resolution(resolution)?;
        if !self.0.audit.is_off() {
            let row = ledger.store.get(key).await.map_err(ToolError::shown)?;
            let row = row.ok_or_else(|| ToolError::shown(EffectClaim::missing(key)))?;
            // A resolution that the ledger would refuse leaves no audit row.
            let mut claim = EffectClaim {
                row: row.clone(),
                released: false,
            };
            claim
                .resolve(resolution.clone(), operator, Timestamp::now())
                .map_err(ToolError::shown)?;
            self.audit_settled("effect.resolve", &row, &resolution, operator, None)
                .await
                .map_err(ToolError::shown)?;
        }
        let resolved = ledger
            .store
            .resolve(key, resolution, operator, Timestamp::now())
            .await;
        resolved.map_err(ToolError::shown)
    }

    /// Settles an effect regardless of its lease. Use this for a row that is still `running` although its owner is dead: an owner whose clock was ahead may
    /// have set the lease far into the future. Otherwise, this works like [`resolve`](Gate::resolve).
    ///
    /// Make sure that the owner is dead: if it is still alive, its call may still take effect. The audit gets a separate row that names
    /// the operator and the reason. If the audit is required and that row cannot be written, the effect is not settled.
    pub async fn force(
        &self,
        key: &CallKey,
        resolution: Resolution,
        operator: &str,
        reason: &str,
    ) -> Result<EffectRow, ToolError> {
        let Some(ledger) = self.ledger() else {
            return Err(ToolError::unavailable("the effect ledger"));
        };
        let resolution = Self::stored_resolution(resolution)?;
        let row = ledger.store.get(key).await.map_err(ToolError::shown)?;
        let row = row.ok_or_else(|| ToolError::shown(EffectClaim::missing(key)))?;
        self.audit_settled("effect.force", &row, &resolution, operator, Some(reason))
            .await
            .map_err(ToolError::shown)?;
        let forced = ledger
            .store
            .force(key, resolution, operator, Timestamp::now())
            .await;
        forced.map_err(ToolError::shown)
    }

    /// Returns the form in which the effect ledger stores a resolution. [`resolve`](Gate::resolve) and [`force`](Gate::force) call this function. An
    /// operator's program that writes to a ledger without a gate must call it, too. Fails if the output is not JSON.
    pub fn stored_resolution(resolution: Resolution) -> Result<Resolution, ToolError> {
        Ok(match resolution {
            Resolution::Succeeded(output) => Resolution::Succeeded(stored::succeeded(&output)?),
            Resolution::Failed(text) => Resolution::Failed(stored::failed(&text)),
            Resolution::Rerun => Resolution::Rerun,
        })
    }

    /// Writes the audit row of an operator who settles an effect.
    async fn audit_settled(
        &self,
        action: &str,
        row: &EffectRow,
        resolution: &Resolution,
        operator: &str,
        reason: Option<&str>,
    ) -> Result<(), StoreError> {
        if self.0.audit.is_off() {
            return Ok(());
        }
        let intent = &row.intent;
        let identity = CallId::alone(intent.identity.workspace())?;
        let mut details = serde_json::json!({
            "key": intent.identity.key().as_str(),
            "state": row.state.as_str(),
            "attempt": row.attempt,
            "lease_until": intent.lease_until,
            "resolution": resolution.as_str(),
        });
        if let Some(reason) = reason {
            details["reason"] = reason.into();
        }
        let audit = AuditRow {
            principal: Some(operator.to_owned()),
            thread: intent.thread.clone(),
            outcome: Some("ok".to_owned()),
            notes: vec![AuditNote {
                action: action.to_owned(),
                details: details.to_string(),
            }],
            ..AuditRow::new(identity, &*intent.call, &*intent.tool, Timestamp::now())
        };
        self.0.audit.note(audit).await
    }

    /// Returns the number of running calls.
    pub fn running(&self) -> usize {
        self.0.running.inside()
    }

    /// Cancels the running calls of a tool, in one workspace or in all. `tool` is the tool's own name or an alias. Returns the number of cancelled calls.
    pub fn stop(&self, tool: &str, tenant: Option<&str>) -> usize {
        self.0.running.count(|call| {
            let is_named = call.scope().is_some_and(|scope| scope.tool.is_named(tool));
            let hit = is_named && (tenant.is_none() || call.workspace() == tenant);
            if hit {
                call.cancel();
            }
            hit
        })
    }

    /// Shuts down: refuses new calls, lets running calls finish until `patience` has passed, cancels the other calls and flushes the audit, including rows
    /// that are written in the background. Returns the number of cancelled calls.
    ///
    /// Returns at most one second after `patience`, even if a body, the audit's sink, the ledger or the approvals hang. If writes are not finished by then, it
    /// logs the number of running calls and of buffered audit rows. A call without an end in the ledger becomes ambiguous when its lease expires, and
    /// best-effort audit rows stay in their buffer.
    ///
    /// A cancelled call that may have had an effect is `ambiguous` in the ledger. Calls that wait for an approval stay in the store.
    pub async fn drain(&self, patience: Duration) -> usize {
        self.0.running.close();
        self.0.sweeping.cancel();
        let _ = tokio::time::timeout(patience, self.idle()).await;
        let cancelled = self.0.running.count(|call| {
            call.cancel();
            true
        });
        // A cancelled body is dropped at once, so this waits only for the last writes to the ledger and the audit.
        let last = async {
            self.idle().await;
            match self.0.audit.buffer() {
                Some(buffer) => buffer.flush().await,
                None => Ok(()),
            }
        };
        let waiting = || self.0.audit.buffer().map_or(0, AuditBuffer::waiting);
        match tokio::time::timeout(LAST_WRITES, last).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::error!(%error, waiting = waiting(), "audit rows could not be written before the shutdown ended");
            }
            Err(_) => tracing::error!(
                running = self.running(),
                waiting = waiting(),
                "running calls, the ledger or the audit did not finish before the shutdown ended"
            ),
        }
        cancelled
    }

    /// Returns whether [`drain`](Gate::drain) was called, so that the gate refuses new calls.
    pub fn is_draining(&self) -> bool {
        self.0.running.is_closed()
    }

    async fn idle(&self) {
        loop {
            let woken = self.0.idle.notified();
            tokio::pin!(woken);
            woken.as_mut().enable();
            if self.running() == 0 && self.0.writes.load(Ordering::SeqCst) == 0 {
                return;
            }
            woken.await;
        }
    }

    /// Starts the sweeper task if it has work, if there is a runtime, and if no such task is running. The task ends with the gate or with
    /// [`drain`](Gate::drain).
    fn tend(&self) {
        let inner = &self.0;
        if inner.sweeping.is_cancelled() {
            return;
        }
        if inner.ledger.is_none() && inner.approvals.is_none() && !inner.sweeper.purges() {
            return;
        }
        let Some(every) = inner
            .sweeper
            .pause(self.ledger().map(|ledger| ledger.lease))
        else {
            return;
        };
        if inner.is_swept.load(Ordering::Relaxed) || inner.is_swept.swap(true, Ordering::Relaxed) {
            return;
        }
        let (weak, stop) = (Arc::downgrade(inner), inner.sweeping.clone());
        let sweeping = async move {
            let _swept = Swept(weak.clone());
            let sweeping = async {
                let mut last_purge = None;
                while let Some(inner) = weak.upgrade() {
                    let ledger = inner
                        .ledger
                        .as_ref()
                        .map(|ledger| Arc::clone(&ledger.store));
                    let (approvals, sweeper) = (inner.approvals.clone(), inner.sweeper.clone());
                    drop(inner);
                    sweeper.sweep(ledger, approvals, &mut last_purge).await;
                    tokio::time::sleep(every).await;
                }
            };
            futures::future::select(pin!(stop.cancelled()), pin!(sweeping)).await;
        };
        if !env::spawn(sweeping) {
            // The next call tries to start the task again.
            inner.is_swept.store(false, Ordering::Relaxed);
        }
    }

    /// Registers a running call; `None` if the gate is draining.
    pub(crate) fn enter(&self, cx: &ToolContext) -> Option<Entered> {
        if !self.0.is_swept.load(Ordering::Relaxed) {
            self.tend();
        }
        let at = self.0.running.enter(|| cx.clone())?;
        let gate = self.clone();
        Some(Entered { gate, at })
    }

    /// Registers the write of an audit row for which no running call waits. This works even after [`drain`](Gate::drain) was called.
    pub(crate) fn begin_write(&self) -> LateWrite {
        self.0.writes.fetch_add(1, Ordering::SeqCst);
        LateWrite(self.clone())
    }
}

/// Returns the journal that the ledger and the required audit share. If only one of them is set, returns its journal.
fn journal(ledger: Option<&Ledger>, audit: &Audit) -> Option<Journal> {
    let ledger = ledger.map(|ledger| ledger.store.journal());
    let audit = match audit {
        Audit::Required(sink) => Some(sink.journal()),
        Audit::Off | Audit::BestEffort(_) => None,
    };
    match (ledger, audit) {
        (Some(ledger), Some(audit)) => ledger.filter(|ledger| audit.as_ref() == Some(ledger)),
        (journal, None) | (None, journal) => journal.flatten(),
    }
}

/// Clears `is_swept` when the sweeper task ends, so that a different runtime can start a new one.
struct Swept(Weak<Inner>);

impl Drop for Swept {
    fn drop(&mut self) {
        if let Some(inner) = self.0.upgrade() {
            inner.is_swept.store(false, Ordering::Relaxed);
        }
    }
}

/// Guard of a running call: the call counts as running until the guard is dropped.
pub(crate) struct Entered {
    gate: Gate,
    at: usize,
}

impl Drop for Entered {
    fn drop(&mut self) {
        if self.gate.0.running.leave(self.at) {
            self.gate.0.idle.notify_waiters();
        }
    }
}

/// Guard of a late audit write: [`Gate::drain`] waits until the guard is dropped, but not beyond its time limit.
pub(crate) struct LateWrite(Gate);

impl Drop for LateWrite {
    fn drop(&mut self) {
        let inner = &self.0.0;
        if inner.writes.fetch_sub(1, Ordering::SeqCst) == 1 {
            inner.idle.notify_waiters();
        }
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate")
            .field("approvals", &self.0.approvals.is_some())
            .field("ledger", &self.0.ledger.is_some())
            .field("audit", &self.0.audit)
            .field("hooks", &self.0.hooks.is_some())
            .field("running", &self.running())
            .finish()
    }
}
