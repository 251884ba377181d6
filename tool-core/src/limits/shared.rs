//! Limits that hold over all processes that share a store.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Kind, Limit, LimitError, LimitScope};
use crate::context::ToolContext;
use crate::digest::{hex, sha256};
use crate::env;
use crate::error::{ErrorKind, ToolError};
use crate::store::{
    LimitId, LimitRule, LimitStore, LimitTake, LimitTaken, LimitUnit, StoreError, Workspace, shield,
};
use crate::tool::ToolDef;

/// Default length of a lease: see [`SharedLimitsBuilder::lease`].
const LEASE: Duration = Duration::from_secs(30);

/// Maximum wait for a permit of a concurrent call. A random part of at most the same length is added, so that waiting runs do not all retry at the
/// same time.
const PERMIT_WAIT: Duration = Duration::from_secs(1);

/// What happens to a call of a conversation if a shared limit is exhausted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum WhenExhausted {
    /// The call stays open, and its run is suspended on a timer (default): [`TurnError::resumes_after`](crate::turn::TurnError::resumes_after) is the time
    /// after which the limit may allow the call. A worker queues the conversation for that time. A call outside of a conversation, and a call that the body of
    /// a tool makes, is refused.
    #[default]
    Suspend,
    /// The call ends with an error of the kind [`RateLimited`](ErrorKind::RateLimited), which the model reads.
    Refuse,
}

/// Limits on calls that hold over all processes that share a store. Cheap to clone.
///
/// The limits have the same kinds and scopes as [`Limits`](super::Limits), which count in one process. Here, each count of a limit is a row of the
/// store, and a call is counted in one conditional statement, by the clock of the store. A limit of concurrent calls has permits with leases,
/// which the process renews: if the process is killed, its permits return within one lease.
///
/// ```
/// use std::time::Duration;
/// use tool_core::limits::{Limit, LimitScope, SharedLimits};
/// use tool_core::store::MemoryStore;
/// use tool_core::{ErrorKind, Gate, ToolContext, tool, toolset};
///
/// /// Sends a message.
/// #[tool]
/// fn send() -> u32 { 1 }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = Limit::quota(1, Duration::from_hours(24)).per(LimitScope::Tenant).tools(["send"]);
/// let limits = SharedLimits::builder(MemoryStore::default(), "calls").limit(limit).build()?;
/// let tools = toolset![send].through(&Gate::builder().shared_limits(limits).build());
///
/// let cx = ToolContext::builder().workspace("acme").user("ann").build();
/// assert!(!tools.call(tool_core::ToolCall::new("c-1", "send", "{}"), &cx).await.is_error());
/// let refused = tools.call(tool_core::ToolCall::new("c-2", "send", "{}"), &cx).await;
/// assert_eq!(refused.error().map(|error| error.kind()), Some(ErrorKind::RateLimited));
/// # Ok(())
/// # }
/// ```
///
/// A process that was suspended for longer than a lease has lost its permits but continues its calls. Until these calls end, more calls may run than
/// the limit allows.
#[derive(Clone)]
#[doc(alias("rate limit", "quota", "throttle", "concurrency", "distributed"))]
pub struct SharedLimits(Arc<Inner>);

struct Inner {
    store: Arc<dyn LimitStore>,
    name: String,
    rules: Vec<Rule>,
    lease: Duration,
    exhausted: WhenExhausted,
}

struct Rule {
    limit: Limit,
    counts: LimitRule,
    /// The part of the row's name that identifies the limit. It does not contain the number of calls, so that processes with old and new settings
    /// share the count.
    name: String,
}

/// Builds [`SharedLimits`] from single limits.
#[must_use]
pub struct SharedLimitsBuilder {
    store: Arc<dyn LimitStore>,
    name: String,
    limits: Vec<Limit>,
    lease: Duration,
    exhausted: WhenExhausted,
}

impl SharedLimitsBuilder {
    /// Adds a limit. A call must be within all limits. A limit with the kind, period, scope, tools and [`each_tool`](Limit::each_tool) of an
    /// earlier one is refused, because the store would count the calls of both in the same row.
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limits.push(limit);
        self
    }

    /// Sets the length of the leases of concurrent calls; the default is 30 seconds, and the minimum is 30 milliseconds. A process renews its leases three times
    /// in this time.
    pub fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease.max(Duration::from_millis(30));
        self
    }

    /// Sets what happens to a call of a conversation if a limit is exhausted.
    pub fn when_exhausted(mut self, exhausted: WhenExhausted) -> Self {
        self.exhausted = exhausted;
        self
    }

    /// Builds the limits. The error contains the number of the invalid limit.
    pub fn build(self) -> Result<SharedLimits, LimitError> {
        let mut rules: Vec<Rule> = Vec::new();
        for (at, limit) in self.limits.into_iter().enumerate() {
            let rule = Rule::new(limit, self.lease, at + 1)?;
            if let Some(earlier) = rules.iter().position(|earlier| earlier.shares(&rule)) {
                return Err(LimitError::Duplicate(at + 1, earlier + 1));
            }
            rules.push(rule);
        }
        // Rates come last, because a refused call cannot return the units that it took from a rate.
        rules.sort_by_key(|rule| matches!(rule.counts, LimitRule::Rate { .. }));
        Ok(SharedLimits(Arc::new(Inner {
            store: self.store,
            name: self.name,
            rules,
            lease: self.lease,
            exhausted: self.exhausted,
        })))
    }
}

impl fmt::Debug for SharedLimitsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLimitsBuilder")
            .field("name", &self.name)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Rule {
    fn new(limit: Limit, lease: Duration, number: usize) -> Result<Self, LimitError> {
        let (rule, kind) = match limit.kind {
            Kind::Rate(calls, period) => (LimitRule::Rate { calls, period }, "rate"),
            Kind::Quota(calls, window) => (LimitRule::Quota { calls, window }, "quota"),
            Kind::AtOnce(permits) => (LimitRule::AtOnce { permits, lease }, "at once"),
        };
        let (calls, time) = match limit.kind {
            Kind::Rate(calls, time) | Kind::Quota(calls, time) => (calls, Some(time)),
            Kind::AtOnce(permits) => (permits, None),
        };
        if calls == 0 {
            return Err(LimitError::Nothing(number));
        }
        if time.is_none() && calls > LimitRule::MOST_PERMITS {
            return Err(LimitError::TooMany(number));
        }
        if rule.check().is_err() {
            return Err(LimitError::TooShort(number));
        }
        let scope = match limit.per {
            LimitScope::Host => "host",
            LimitScope::Tenant => "tenant",
            LimitScope::Principal => "principal",
        };
        let mut name = format!(
            "{kind} {}us per {scope}",
            time.unwrap_or_default().as_micros()
        );
        if !limit.tools.is_empty() {
            let mut tools = limit.tools.clone();
            tools.sort();
            tools.dedup();
            let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
            name.push_str(" of ");
            name.push_str(&sha256(&tools)[..16]);
        }
        let counts = rule;
        Ok(Self {
            limit,
            counts,
            name,
        })
    }

    /// Returns whether both limits count calls in the same rows.
    fn shares(&self, other: &Self) -> bool {
        self.name == other.name && self.limit.each_tool == other.limit.each_tool
    }

    fn covers(&self, is: impl Fn(&str) -> bool) -> bool {
        let names = &self.limit.tools;
        names.is_empty() || names.iter().any(|name| is(name))
    }

    /// Returns the id of the row that counts a call. The name of a user is hashed, because rows of limits are not erased with the data of a user.
    fn limit_id(&self, own: &str, cx: &ToolContext, subject: &str) -> Result<LimitId, StoreError> {
        let mut name = format!("{own}/{}", self.name);
        if self.limit.each_tool {
            name.push('/');
            name.push_str(subject);
        }
        if self.limit.per == LimitScope::Principal
            && let Some(user) = cx.user()
        {
            name.push('/');
            name.push_str(&sha256(&[cx.workspace().unwrap_or_default(), user]));
        }
        let workspace = match self.limit.per {
            LimitScope::Host => None,
            LimitScope::Tenant | LimitScope::Principal => {
                cx.workspace().filter(|workspace| !workspace.is_empty())
            }
        };
        LimitId::new(workspace.map(Workspace::new).as_ref(), name)
    }
}

impl SharedLimits {
    /// Returns a builder. All processes that pass the same store and the same name share the counts, so use one name for the limits of a gate, and different
    /// names for limits that must not share their counts.
    pub fn builder(store: impl LimitStore, name: impl Into<String>) -> SharedLimitsBuilder {
        Self::shared(Arc::new(store), name)
    }

    /// Returns a builder with a store that other code may share.
    pub fn shared(store: Arc<dyn LimitStore>, name: impl Into<String>) -> SharedLimitsBuilder {
        SharedLimitsBuilder {
            store: shield::limits(store),
            name: name.into(),
            limits: Vec::new(),
            lease: LEASE,
            exhausted: WhenExhausted::default(),
        }
    }

    /// Returns whether a limit covers the tool.
    pub(crate) fn covers(&self, tool: &ToolDef) -> bool {
        let mut rules = self.0.rules.iter();
        rules.any(|rule| rule.covers(|name| tool.is_named(name)))
    }

    /// Counts a call of a tool. A [`Gate`](crate::Gate) with [`shared_limits`](crate::GateBuilder::shared_limits) does this for each of its calls.
    ///
    /// # Errors
    ///
    /// Fails with [`ErrorKind::RateLimited`] and the time to wait if a limit is exhausted, and with [`ErrorKind::Unavailable`] if a limit cannot be
    /// checked, for example because the store fails. Units that the call took from other limits are returned, except units of rates.
    pub async fn enter(
        &self,
        cx: &ToolContext,
        tool: &ToolDef,
    ) -> Result<SharedLimitGuard, ToolError> {
        self.take(cx, tool.name(), |name| tool.is_named(name)).await
    }

    /// Counts work that is not a call of a tool, such as a request to a model. `name` is used in place of the name of a tool by [`Limit::tools`] and
    /// [`Limit::each_tool`].
    ///
    /// # Errors
    ///
    /// Fails in the same cases as [`enter`](Self::enter).
    pub async fn enter_as(
        &self,
        cx: &ToolContext,
        name: &str,
    ) -> Result<SharedLimitGuard, ToolError> {
        self.take(cx, name, |known| known == name).await
    }

    async fn take(
        &self,
        cx: &ToolContext,
        subject: &str,
        is: impl Fn(&str) -> bool,
    ) -> Result<SharedLimitGuard, ToolError> {
        let mut guard = SharedLimitGuard {
            limits: self.clone(),
            units: Vec::new(),
            renewal: None,
        };
        for rule in &self.0.rules {
            if !rule.covers(&is) {
                continue;
            }
            let taken = async {
                let id = rule.limit_id(&self.0.name, cx, subject)?;
                Ok((id.clone(), self.0.take(id, rule.counts).await?))
            };
            let error = match taken.await {
                Ok((id, LimitTaken::Taken(unit))) => {
                    guard.units.push((id, unit));
                    continue;
                }
                Ok((id, LimitTaken::Refused(wait))) => exhausted(&id, &rule.limit, wait),
                Err(error) => unavailable(&error),
            };
            guard.give_back().await;
            return Err(error);
        }
        guard.renew();
        Ok(guard)
    }

    /// Returns the error of a call that [`enter`](Self::enter) refused. If the run of the call is suspended, the error is of the kind
    /// [`Pending`](ErrorKind::Pending).
    pub(crate) fn refusal(&self, error: ToolError, cx: &ToolContext) -> ToolError {
        let suspends = self.0.exhausted == WhenExhausted::Suspend && cx.is_call_of_turn();
        match error.wait() {
            Some(wait) if suspends => {
                ToolError::of(ErrorKind::Pending, "the call waits for a limit on calls")
                    .operator(error.operator_text())
                    .retry_after(wait)
            }
            _ => error,
        }
    }
}

impl fmt::Debug for SharedLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limits: Vec<&Limit> = self.0.rules.iter().map(|rule| &rule.limit).collect();
        f.debug_struct("SharedLimits")
            .field("name", &self.0.name)
            .field("limits", &limits)
            .finish_non_exhaustive()
    }
}

impl Inner {
    async fn take(&self, id: LimitId, rule: LimitRule) -> Result<LimitTaken, StoreError> {
        let random = env::distinct();
        let random = random.map_err(|error| StoreError::Unavailable(Box::new(error)))?;
        let take = LimitTake {
            id,
            rule,
            token: hex(&random),
            at: env::now(),
        };
        let spread = PERMIT_WAIT * u32::from(random[0]) / 256;
        let taken = match self.store.take_limit(take.clone()).await {
            // The store may have counted the call although its response was lost. A permit is not taken twice, because its token is the same, and the other
            // kinds count the call at most twice.
            Err(StoreError::Unavailable(_)) => self.store.take_limit(take).await,
            taken => taken,
        };
        Ok(match (taken?, rule) {
            // The store returns the time until a lease ends, but a permit usually returns earlier, when its call ends.
            (LimitTaken::Refused(wait), LimitRule::AtOnce { .. }) => {
                LimitTaken::Refused(wait.min(PERMIT_WAIT + spread))
            }
            (taken, _) => taken,
        })
    }

    async fn give_back(&self, units: Vec<(LimitId, LimitUnit)>) {
        for (id, unit) in units {
            let at = env::now();
            let mut returned = self.store.return_limit(&id, &unit, at).await;
            if matches!(returned, Err(StoreError::Unavailable(_))) {
                returned = self.store.return_limit(&id, &unit, at).await;
            }
            if let Err(error) = returned {
                tracing::warn!(%error, limit = %id, "a unit of a shared limit could not be returned");
            }
        }
    }

    /// Renews the leases of permits until the token is cancelled or all leases have ended.
    async fn renew(&self, mut permits: Vec<(LimitId, String)>, ended: &CancellationToken) {
        while !permits.is_empty() {
            let pause = tokio::time::sleep(self.lease / 3);
            if ended.run_until_cancelled(pause).await.is_none() {
                return;
            }
            let mut held = Vec::with_capacity(permits.len());
            for (id, token) in permits {
                let renewed = self
                    .store
                    .extend_permit(&id, &token, self.lease, env::now());
                match ended.run_until_cancelled(renewed).await {
                    None => return,
                    Some(Ok(true)) => {}
                    Some(Ok(false)) => {
                        tracing::warn!(limit = %id, "the lease of a permit ended before its call, so more calls may run than the limit allows");
                        continue;
                    }
                    Some(Err(error)) => {
                        tracing::warn!(%error, limit = %id, "the lease of a permit could not be renewed");
                    }
                }
                held.push((id, token));
            }
            permits = held;
        }
    }
}

/// Guard that counts a call, or other work, in the shared limits of concurrent calls that apply to it. Keep the guard until the work has ended.
#[must_use = "the call counts as ended when the guard is dropped"]
pub struct SharedLimitGuard {
    limits: SharedLimits,
    units: Vec<(LimitId, LimitUnit)>,
    /// Ends the renewal of the leases.
    renewal: Option<CancellationToken>,
}

impl SharedLimitGuard {
    /// Begins to renew the leases of the permits.
    fn renew(&mut self) {
        let permits = self.units.iter().filter_map(|(id, unit)| match unit {
            LimitUnit::Permit { token } => Some((id.clone(), token.clone())),
            _ => None,
        });
        let permits: Vec<_> = permits.collect();
        if permits.is_empty() {
            return;
        }
        let ended = CancellationToken::new();
        self.renewal = Some(ended.clone());
        let inner = Arc::clone(&self.limits.0);
        env::spawn(async move { inner.renew(permits, &ended).await });
    }

    /// Returns the units, because the work did not begin. Units of rates cannot be returned.
    pub async fn give_back(mut self) {
        self.end_renewal();
        let units = std::mem::take(&mut self.units);
        self.limits.0.give_back(units).await;
    }

    fn end_renewal(&mut self) {
        if let Some(renewal) = self.renewal.take() {
            renewal.cancel();
        }
    }
}

impl Drop for SharedLimitGuard {
    fn drop(&mut self) {
        self.end_renewal();
        let mut permits = std::mem::take(&mut self.units);
        permits.retain(|(_, unit)| matches!(unit, LimitUnit::Permit { .. }));
        if permits.is_empty() {
            return;
        }
        let inner = Arc::clone(&self.limits.0);
        // Without a runtime, the permits return when their leases end.
        env::spawn(async move { inner.give_back(permits).await });
    }
}

impl fmt::Debug for SharedLimitGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedLimitGuard")
            .field("units", &self.units)
            .finish_non_exhaustive()
    }
}

fn exhausted(id: &LimitId, limit: &Limit, wait: Duration) -> ToolError {
    let text = match limit.kind {
        Kind::AtOnce(_) => "too many calls run at the same time, wait for one to end",
        Kind::Rate(..) | Kind::Quota(..) => "too many calls were made, wait before the next one",
    };
    ToolError::of(ErrorKind::RateLimited, text)
        .operator(format!("refused by the {id}: {limit:?}"))
        .retry_after(wait)
}

fn unavailable(error: &StoreError) -> ToolError {
    ToolError::unavailable("the store of the limits on calls").operator(error.to_string())
}
