//! The gate of a host: everything that stands between a call that may be seen and its body.

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
use crate::context::ToolContext;
use crate::env;
use crate::error::ToolError;
use crate::limits::Limits;
use crate::run::hooks::Hooks;
use crate::run::{Permitted, Ran, stored};
use crate::store::{
    AuditNote, AuditRow, CallId, CallKey, EffectClaim, EffectLedger, EffectRow, Journal,
    Resolution, StoreError, Timestamp,
};
use crate::sync::Door;

/// How long a running call holds its row in the ledger without a sign of life.
const LEASE: Duration = Duration::from_secs(30);

/// How long [`Gate::drain`] waits for the last writes.
const LAST_WRITES: Duration = Duration::from_secs(1);

/// What every call of a host passes: approvals, the effect ledger, the audit, hooks, and the way to stop.
///
/// Made once; [`Toolset::through`](crate::Toolset::through) puts it before the tools of a turn.
///
/// ```standalone_crate
/// use tool_core::{Approvals, Audit, Gate, Registry, ToolContext, Rules};
/// use tool_core::store::MemoryStore;
/// # use tool_core::tool;
/// # /// Tells nothing.
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
    /// Where ledger and required audit are parts of one database.
    journal: Option<Journal>,
    hooks: Option<Hooks>,
    limits: Option<Limits>,
    retry: Retry,
    content: bool,
    running: Door<ToolContext>,
    /// How many rows of the audit are being written for which no running call waits.
    writes: AtomicUsize,
    /// Woken when the last running call or the last of those writes ends.
    idle: Notify,
    sweeper: Sweeper,
    /// Cancelled when no more is swept.
    sweeping: CancellationToken,
    /// Whether a task sweeps.
    is_swept: AtomicBool,
}

/// The effect ledger, and who writes into it.
#[derive(Clone)]
pub(crate) struct Ledger {
    pub(crate) store: Arc<dyn EffectLedger>,
    owner: Arc<str>,
    runs: Arc<AtomicU64>,
    pub(crate) lease: Duration,
}

impl Ledger {
    /// A name for one run of one call.
    pub(crate) fn run(&self) -> String {
        format!(
            "{}/{}",
            self.owner,
            self.runs.fetch_add(1, Ordering::Relaxed)
        )
    }
}

/// How often a read-only or idempotent tool that failed is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// How often in all; 1 is no second try.
    pub attempts: u32,
    /// The wait before the second try; it doubles with each, and an error that says how long to wait is obeyed.
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

/// Makes a [`Gate`].
#[must_use]
#[derive(Default)]
pub struct GateBuilder {
    approvals: Option<Approvals>,
    ledger: Option<Arc<dyn EffectLedger>>,
    owner: Option<String>,
    lease: Option<Duration>,
    audit: Audit,
    hooks: Option<Hooks>,
    limits: Option<Limits>,
    retry: Retry,
    content: bool,
    sweeper: Sweeper,
}

impl GateBuilder {
    /// Where approvals are asked for. Without it, a call that needs one is refused.
    pub fn approvals(mut self, approvals: Approvals) -> Self {
        self.approvals = Some(approvals);
        self
    }

    /// Where calls with effects are written down before they run. Without it, nothing keeps an effect from happening twice.
    pub fn ledger(self, store: impl EffectLedger) -> Self {
        self.shared_ledger(Arc::new(store))
    }

    /// A ledger that others hold as well.
    pub fn shared_ledger(mut self, store: Arc<dyn EffectLedger>) -> Self {
        self.ledger = Some(super::shield::ledger(store));
        self
    }

    /// Names this process in the ledger; a random name where nothing is said.
    pub fn owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = Some(owner.into());
        self
    }

    /// How long a running call keeps its row in the ledger without a sign of life; 30 seconds where nothing is said. A call renews
    /// it three times in that span; when it lapses, the effect counts as ambiguous.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// How the ledger and the approvals are swept; [`Sweeper::default`] where nothing is said.
    pub fn sweeper(mut self, sweeper: Sweeper) -> Self {
        self.sweeper = sweeper;
        self
    }

    /// How the audit is kept.
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = super::shield::audit(audit);
        self
    }

    /// How much everybody may call. A call that waits for an approval counts, and once more when it is resumed.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self
    }

    /// How often a read-only or idempotent tool that failed is tried again.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Whether the spans of calls hold arguments and results, the turn's secrets masked; they do not where nothing is said. What else
    /// is private in them is then with whoever keeps the spans.
    pub fn trace_content(mut self, on: bool) -> Self {
        self.content = on;
        self
    }

    /// Puts a tower layer around every run that the gate has permitted; the last one given is the outermost.
    ///
    /// A layer sees the tool, the context and the arguments, and what came of the run. It can refuse, wait, measure and note; it can
    /// neither run a call twice nor change its arguments, for a changed call would have to pass the gate again.
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: tower::Layer<Hooks>,
        L::Service: tower::Service<Permitted, Response = Ran, Error = tower::BoxError>
            + Clone
            + Send
            + Sync
            + 'static,
        <L::Service as tower::Service<Permitted>>::Future: Send + 'static,
    {
        self.hooks = Some(Hooks::wrap(layer.layer(self.hooks.unwrap_or_default())));
        self
    }

    /// The gate.
    pub fn build(self) -> Gate {
        let lease = self.lease.unwrap_or(LEASE).max(Duration::from_millis(30));
        let owner = self.owner;
        let ledger = self.ledger.map(|store| Ledger {
            store,
            // Without random bytes, the process and the time still tell owners apart.
            owner: owner
                .or_else(|| super::hash::random_id().ok())
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
    /// Starts a gate. One without anything lets every call through that its toolset shows.
    pub fn builder() -> GateBuilder {
        GateBuilder::default()
    }

    /// The approvals.
    pub fn approvals(&self) -> Option<&Approvals> {
        self.0.approvals.as_ref()
    }

    /// The ledger of effects.
    pub fn effects(&self) -> Option<&dyn EffectLedger> {
        self.0.ledger.as_ref().map(|ledger| &*ledger.store)
    }

    /// The audit.
    pub fn audit(&self) -> &Audit {
        &self.0.audit
    }

    pub(crate) fn ledger(&self) -> Option<&Ledger> {
        self.0.ledger.as_ref()
    }

    /// The transactions that take the end of a call, where one takes both the ledger and the required audit.
    pub(crate) fn journal(&self) -> Option<&Journal> {
        self.0.journal.as_ref()
    }

    pub(crate) fn hooks(&self) -> Option<&Hooks> {
        self.0.hooks.as_ref()
    }

    pub(crate) fn limits(&self) -> Option<&Limits> {
        self.0.limits.as_ref()
    }

    pub(crate) fn traces_content(&self) -> bool {
        self.0.content
    }

    pub(crate) fn retry(&self) -> Retry {
        self.0.retry
    }

    /// Says what became of an effect that the ledger calls ambiguous, by the key of its call; `operator` is named in the row.
    ///
    /// `Succeeded` takes the output as JSON text, `Failed` the words that the model reads; a later dispatch of the same call answers
    /// with them. `Rerun` lets it run once more; that attempt has an audit row of its own ([`CallId::attempt`]).
    ///
    /// The audit gets a row of its own that names the operator; where the audit is required and that row cannot be written, nothing is
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
        let resolution = stored_resolution(resolution)?;
        if !self.0.audit.is_off() {
            let row = ledger.store.get(key).await.map_err(ToolError::shown)?;
            let row = row.ok_or_else(|| ToolError::shown(EffectClaim::missing(key)))?;
            // What the ledger would refuse leaves no row.
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

    /// Settles an effect whatever its lease says, for a row that says `running` although its owner is dead: a clock that ran ahead can
    /// have put the lease far into the future. Otherwise as [`resolve`](Gate::resolve).
    ///
    /// Where the owner is alive after all, its call may still take effect; be sure that it is dead. The audit gets a row of its own that
    /// names the operator and the reason; where the audit is required and that row cannot be written, nothing is settled.
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
        let resolution = stored_resolution(resolution)?;
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

    /// Writes that an operator settles an effect.
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

    /// How many calls run now.
    pub fn running(&self) -> usize {
        self.0.running.inside()
    }

    /// Cancels the running calls of a tool, of one workspace or of all; gives how many.
    pub fn stop(&self, tool: &str, tenant: Option<&str>) -> usize {
        self.0.running.count(|call| {
            let hit =
                call.tool_name() == Some(tool) && (tenant.is_none() || call.workspace() == tenant);
            if hit {
                call.cancel();
            }
            hit
        })
    }

    /// Ends in an orderly way: takes no more calls, lets those that run finish until `patience` is over, cancels what is left, and
    /// writes the audit, rows included that are written in the background. Returns how many calls were cancelled.
    ///
    /// It ends at most one second after `patience`, whatever hangs: a body, the audit's sink, the ledger or the approvals. What could not
    /// be written by then is logged: a call without an end in the ledger becomes ambiguous when its lease is over, and best-effort audit
    /// rows stay in their buffer.
    ///
    /// Cancelled calls with effects are `ambiguous` in the ledger. Calls that wait for an approval stay in the store.
    pub async fn drain(&self, patience: Duration) -> usize {
        self.0.running.close();
        self.0.sweeping.cancel();
        let _ = tokio::time::timeout(patience, self.idle()).await;
        let cancelled = self.0.running.count(|call| {
            call.cancel();
            true
        });
        // A dropped body ends at once. What is awaited here are the last writes into the ledger and the audit.
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
                tracing::error!(%error, waiting = waiting(), "audit rows could not be written before the end");
            }
            Err(_) => tracing::error!(
                running = self.running(),
                waiting = waiting(),
                "the ledger or the audit did not answer before the end"
            ),
        }
        cancelled
    }

    /// Whether [`drain`](Gate::drain) was called: no more calls are taken.
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

    /// Starts the task that sweeps, where there is a runtime and no task yet. It ends with the gate, and with [`drain`](Gate::drain).
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
            // Tried again when a call comes.
            inner.is_swept.store(false, Ordering::Relaxed);
        }
    }

    /// Notes that a call runs; `None` where no more are taken.
    pub(crate) fn enter(&self, cx: &ToolContext) -> Option<Entered> {
        if !self.0.is_swept.load(Ordering::Relaxed) {
            self.tend();
        }
        let at = self.0.running.enter(|| cx.clone())?;
        let gate = self.clone();
        Some(Entered { gate, at })
    }

    /// Notes that a row of the audit is being written for which no running call waits. It is also taken after [`drain`](Gate::drain)
    /// was called.
    pub(crate) fn begin_write(&self) -> LateWrite {
        self.0.writes.fetch_add(1, Ordering::SeqCst);
        LateWrite(self.clone())
    }
}

/// The journal that the ledger and the required audit have in common.
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

/// The text that a replay answers with, for what an operator has found.
fn stored_resolution(resolution: Resolution) -> Result<Resolution, ToolError> {
    Ok(match resolution {
        Resolution::Succeeded(output) => Resolution::Succeeded(stored::succeeded(&output)?),
        Resolution::Failed(text) => Resolution::Failed(stored::failed(&text)),
        Resolution::Rerun => Resolution::Rerun,
    })
}

/// Another runtime may start another task after this one.
struct Swept(Weak<Inner>);

impl Drop for Swept {
    fn drop(&mut self) {
        if let Some(inner) = self.0.upgrade() {
            inner.is_swept.store(false, Ordering::Relaxed);
        }
    }
}

/// A call counts as running while this lives.
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

/// [`Gate::drain`] waits while this lives.
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
