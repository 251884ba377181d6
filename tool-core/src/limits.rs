//! Rate limits, quotas and concurrency limits for calls.
//!
//! There are three kinds of limits: a [rate](Limit::rate) spreads calls out, a [quota](Limit::quota) counts them in a window, and [`at_once`](Limit::at_once)
//! limits how many run concurrently. Each limit counts for the whole host, per tenant or per principal, and for all tools together, for each tool separately,
//! or only for the tools that it names. A call that exceeds a limit gets an error of the kind [`RateLimited`](ErrorKind::RateLimited), which contains the time
//! after which to try again.
//!
//! ```
//! use std::time::Duration;
//! use tool_core::limits::{Limit, Limits, LimitScope};
//! use tool_core::{ErrorKind, Registry, ToolContext};
//! # use tool_core::prelude::*;
//! # /// Sends a message.
//! # #[tool]
//! # fn send() -> u32 { 1 }
//!
//! let limits = Limits::builder()
//!     .limit(Limit::rate(60, Duration::from_mins(1)).per(LimitScope::Principal))
//!     .limit(Limit::quota(1, Duration::from_hours(24)).per(LimitScope::Tenant).tools(["send"]))
//!     .limit(Limit::at_once(8).per(LimitScope::Tenant))
//!     .build()?;
//!
//! let registry = Registry::builder().tool::<send>().build()?;
//! let def = registry.get("send").expect("registered");
//! let cx = ToolContext::builder().workspace("acme").user("ann").build();
//! let guard = limits.enter(&cx, def).expect("the first call"); // kept as long as the call runs
//! drop(guard);
//! let refused = limits.enter(&cx, def).expect_err("the second call");
//! assert_eq!(refused.kind(), ErrorKind::RateLimited);
//! assert!(refused.wait().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`Limits`] count in one process: a host with several processes allows several times as many calls. [`SharedLimits`] hold over all processes that
//! share a store. By default, a call of a conversation that exceeds a shared limit suspends its run instead: see [`WhenExhausted`].

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use governor::clock::Clock;
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::time::Instant;

use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::tool::ToolDef;

mod shared;

pub use shared::{SharedLimitGuard, SharedLimits, SharedLimitsBuilder, WhenExhausted};

/// The scope in which a limit counts calls together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitScope {
    /// All calls of this process. For [`SharedLimits`], all calls of the processes that share the limits.
    #[default]
    Host,
    /// The calls of one workspace.
    Tenant,
    /// The calls of one user within a workspace.
    Principal,
}

/// A limit on calls: a rate, a quota, or a number of concurrent calls.
#[derive(Clone, Debug)]
#[must_use = "give it to `LimitsBuilder::limit`"]
pub struct Limit {
    kind: Kind,
    per: LimitScope,
    each_tool: bool,
    tools: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Rate(u32, Duration),
    Quota(u32, Duration),
    AtOnce(u32),
}

impl Limit {
    fn new(kind: Kind) -> Self {
        Self {
            kind,
            per: LimitScope::default(),
            each_tool: false,
            tools: Vec::new(),
        }
    }

    /// Allows a burst of `calls`, and then one more call every `period / calls`.
    pub fn rate(calls: u32, period: Duration) -> Self {
        Self::new(Kind::Rate(calls, period))
    }

    /// Allows `calls` within a `window` that begins with the first of them. The next window begins with the first call after the end of this window.
    pub fn quota(calls: u32, window: Duration) -> Self {
        Self::new(Kind::Quota(calls, window))
    }

    /// Allows this many concurrent calls.
    pub fn at_once(calls: u32) -> Self {
        Self::new(Kind::AtOnce(calls))
    }

    /// Counts per tenant or principal. The default is the whole host.
    pub fn per(mut self, per: LimitScope) -> Self {
        self.per = per;
        self
    }

    /// Counts each tool separately.
    pub fn each_tool(mut self) -> Self {
        self.each_tool = true;
        self
    }

    /// Counts only calls of these tools, by their own names or aliases. The default is all tools.
    pub fn tools<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.tools.extend(names.into_iter().map(Into::into));
        self
    }
}

/// The error for an invalid limit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitError {
    /// The limit allows no calls.
    #[error("limit {0} allows no calls, hide the tool instead")]
    Nothing(usize),
    /// The time of a rate is shorter than a nanosecond per call, or the window of a quota is zero. [`SharedLimits`] require at least a microsecond
    /// per call, and a window of at least a millisecond.
    #[error(
        "the period of limit {0} is too short: allow at least a nanosecond per call and a quota window above zero, and for a shared limit a microsecond per call and a window of a millisecond"
    )]
    TooShort(usize),
    /// A [shared](SharedLimits) limit of concurrent calls has too many permits.
    #[error(
        "limit {0} has more permits than a shared limit can have: allow at most 1,000 concurrent calls"
    )]
    TooMany(usize),
    /// A [shared](SharedLimits) limit has the kind, period, scope, tools and [`each_tool`](Limit::each_tool) of an earlier one, so both would count
    /// each call in the same row.
    #[error(
        "limit {0} counts the same calls as limit {1}: keep the smaller one, or give them different periods, scopes or tools"
    )]
    Duplicate(usize, usize),
}

/// Builds [`Limits`] from single limits.
#[derive(Debug, Default)]
#[must_use]
pub struct LimitsBuilder {
    limits: Vec<Limit>,
    most_keys: Option<usize>,
}

impl LimitsBuilder {
    /// Adds a limit. A call must be within all limits.
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limits.push(limit);
        self
    }

    /// Sets the maximum number of combinations of tenant, principal and tool that each limit counts separately. The default is 100,000.
    ///
    /// At this number, keys whose count is zero again are evicted before a new key is added. If no key can be evicted, calls of new keys are refused.
    pub fn most_keys(mut self, keys: usize) -> Self {
        self.most_keys = Some(keys);
        self
    }

    /// Builds the limits. The error contains the number of the invalid limit.
    pub fn build(self) -> Result<Limits, LimitError> {
        let clock = Watch(Instant::now());
        let mut rules = Vec::new();
        for (at, limit) in self.limits.into_iter().enumerate() {
            let counter = Counter::new(limit.kind, at + 1)?;
            rules.push(Rule {
                limit,
                counter,
                counts: Mutex::default(),
            });
        }
        // Rates come last, because a refused call cannot return the units that it took from a rate.
        rules.sort_by_key(|rule| matches!(rule.counter, Counter::Rate(_)));
        Ok(Limits(Arc::new(Inner {
            rules,
            most_keys: self.most_keys.unwrap_or(100_000),
            clock,
        })))
    }
}

/// The limits of a host. Cheap to clone; all clones share their counts. See the [module](self).
#[derive(Clone)]
#[doc(alias("rate limit", "quota", "throttle", "concurrency"))]
pub struct Limits(Arc<Inner>);

struct Inner {
    rules: Vec<Rule>,
    most_keys: usize,
    clock: Watch,
}

struct Rule {
    limit: Limit,
    counter: Counter,
    counts: Mutex<HashMap<Key, Count>>,
}

/// Tenant, principal and tool whose calls are counted together. Each is `None` if the rule does not distinguish it, or if the call has none.
type Key = (Option<Box<str>>, Option<Box<str>>, Option<Box<str>>);

/// How a rule counts calls.
enum Counter {
    Rate(Quota),
    Quota(u32, Duration),
    AtOnce(usize),
}

/// The current count of one key.
enum Count {
    /// The bucket, and when it was last used.
    Rate(Box<Bucket>, Duration),
    /// The number of calls, and the beginning of their window.
    Quota(u32, Duration),
    /// The reference count is one more than the number of guards.
    AtOnce(Arc<()>),
}

type Bucket = RateLimiter<NotKeyed, InMemoryState, Watch, NoOpMiddleware<Duration>>;

/// Tokio's clock, which a test can advance.
#[derive(Clone, Copy)]
struct Watch(Instant);

impl Clock for Watch {
    type Instant = Duration;

    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Guard that counts a call in the limits of concurrent calls that apply to it. Keep the guard until the tool's body has ended.
#[derive(Debug)]
#[must_use = "the call counts as ended when the guard is dropped"]
pub struct LimitGuard {
    /// One reference for each limit of concurrent calls. Never read.
    _places: Vec<Arc<()>>,
}

/// The unit that a call took from the count of a rule.
enum Taken {
    Nothing,
    Place(Arc<()>),
    Call(Key, Duration),
}

impl Limits {
    /// Returns a builder without limits.
    pub fn builder() -> LimitsBuilder {
        LimitsBuilder::default()
    }

    /// Counts a call of this tool, or refuses it with [`ErrorKind::RateLimited`] and the time to wait.
    ///
    /// A refused call returns the units that it took from other quotas and concurrency limits. Units of other rates are not returned.
    pub fn enter(&self, cx: &ToolContext, tool: &ToolDef) -> Result<LimitGuard, ToolError> {
        let now = self.0.clock.now();
        let mut places = Vec::new();
        let mut calls = Vec::new();
        for (at, rule) in self.0.rules.iter().enumerate() {
            let names = &rule.limit.tools;
            if !names.is_empty() && !names.iter().any(|name| tool.is_named(name)) {
                continue;
            }
            match rule.take(cx, tool, now, &self.0) {
                Ok(Taken::Nothing) => {}
                Ok(Taken::Place(place)) => places.push(place),
                Ok(Taken::Call(key, since)) => calls.push((at, key, since)),
                Err(refused) => {
                    for (at, key, since) in calls {
                        self.0.rules[at].give_back(&key, since);
                    }
                    return Err(refused.error(&rule.limit));
                }
            }
        }
        Ok(LimitGuard { _places: places })
    }

    /// Returns the number of keys that are stored, over all limits.
    pub fn keys(&self) -> usize {
        self.0.rules.iter().map(|rule| rule.counts().len()).sum()
    }
}

impl std::fmt::Debug for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let limits = self.0.rules.iter().map(|rule| &rule.limit);
        f.debug_list().entries(limits).finish()
    }
}

/// The refusal of a call by a rule.
struct Refused {
    wait: Duration,
    /// Whether the maximum number of keys is reached, so that a new key cannot be added.
    full: bool,
}

impl Refused {
    fn error(&self, limit: &Limit) -> ToolError {
        let text = match limit.kind {
            _ if self.full => "too many different callers at the moment, try again later",
            Kind::AtOnce(_) => "too many calls run at the same time, wait for one to end",
            Kind::Rate(..) | Kind::Quota(..) => {
                "too many calls were made, wait before the next one"
            }
        };
        ToolError::of(ErrorKind::RateLimited, text)
            .operator(format!("refused by {limit:?}"))
            .retry_after(self.wait)
    }
}

impl Counter {
    fn new(kind: Kind, number: usize) -> Result<Self, LimitError> {
        let some = |calls| NonZeroU32::new(calls).ok_or(LimitError::Nothing(number));
        match kind {
            Kind::Rate(calls, period) => {
                let calls = some(calls)?;
                Quota::with_period(period / calls.get())
                    .map(|quota| Self::Rate(quota.allow_burst(calls)))
                    .ok_or(LimitError::TooShort(number))
            }
            Kind::Quota(calls, window) if !window.is_zero() => {
                Ok(Self::Quota(some(calls)?.get(), window))
            }
            Kind::Quota(..) => Err(LimitError::TooShort(number)),
            Kind::AtOnce(calls) => some(calls).map(|calls| Self::AtOnce(calls.get() as usize)),
        }
    }

    /// Creates an empty count.
    fn count(&self, clock: Watch, now: Duration) -> Count {
        match self {
            Self::Rate(quota) => {
                Count::Rate(Box::new(RateLimiter::direct_with_clock(*quota, clock)), now)
            }
            Self::Quota(..) => Count::Quota(0, now),
            Self::AtOnce(_) => Count::AtOnce(Arc::new(())),
        }
    }

    /// Returns whether a count equals an empty count, so that its key can be evicted.
    fn forgets(&self, count: &Count, now: Duration) -> bool {
        match (self, count) {
            (Self::Rate(quota), Count::Rate(_, last)) => {
                now.saturating_sub(*last) >= quota.burst_size_replenished_in()
            }
            (Self::Quota(_, window), Count::Quota(_, since)) => {
                now.saturating_sub(*since) >= *window
            }
            (_, Count::AtOnce(place)) => Arc::strong_count(place) == 1,
            _ => true,
        }
    }
}

impl Rule {
    fn counts(&self) -> MutexGuard<'_, HashMap<Key, Count>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, cx: &ToolContext, tool: &ToolDef) -> Key {
        let (tenant, principal) = match self.limit.per {
            LimitScope::Host => (None, None),
            LimitScope::Tenant => (cx.workspace(), None),
            LimitScope::Principal => (cx.workspace(), cx.user()),
        };
        let tool = self.limit.each_tool.then(|| tool.name());
        (
            tenant.map(Into::into),
            principal.map(Into::into),
            tool.map(Into::into),
        )
    }

    fn take(
        &self,
        cx: &ToolContext,
        tool: &ToolDef,
        now: Duration,
        inner: &Inner,
    ) -> Result<Taken, Refused> {
        let key = self.key(cx, tool);
        let mut counts = self.counts();
        if counts.len() >= inner.most_keys && !counts.contains_key(&key) {
            counts.retain(|_, count| !self.counter.forgets(count, now));
            if counts.len() >= inner.most_keys {
                return Err(Refused {
                    wait: Duration::from_secs(1),
                    full: true,
                });
            }
        }
        let count = counts
            .entry(key.clone())
            .or_insert_with(|| self.counter.count(inner.clock, now));
        let refused = |wait| Refused { wait, full: false };
        match (&self.counter, count) {
            (Counter::Rate(_), Count::Rate(bucket, last)) => {
                *last = now;
                bucket
                    .check()
                    .map(|()| Taken::Nothing)
                    .map_err(|until| refused(until.wait_time_from(inner.clock.now())))
            }
            (Counter::Quota(most, window), Count::Quota(calls, since)) => {
                if now.saturating_sub(*since) >= *window {
                    (*calls, *since) = (0, now);
                }
                if *calls >= *most {
                    return Err(refused((*since + *window).saturating_sub(now)));
                }
                *calls += 1;
                Ok(Taken::Call(key, *since))
            }
            (Counter::AtOnce(most), Count::AtOnce(place)) => {
                if Arc::strong_count(place) > *most {
                    return Err(refused(Duration::from_secs(1)));
                }
                Ok(Taken::Place(Arc::clone(place)))
            }
            // A rule creates only counts of its own kind.
            _ => Ok(Taken::Nothing),
        }
    }

    /// Removes a call from the count if `window`, in which the call was counted, is still the current window.
    fn give_back(&self, key: &Key, window: Duration) {
        if let Some(Count::Quota(calls, since)) = self.counts().get_mut(key)
            && *since == window
        {
            *calls = calls.saturating_sub(1);
        }
    }
}
