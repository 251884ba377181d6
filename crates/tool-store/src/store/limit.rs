//! Limits on calls that several processes share: rates, quotas, and permits with leases.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::{StoreError, StoreFuture, Timestamp, Workspace};

/// The id of a shared limit: a workspace, or none for a limit of the whole host, and a name that the host chooses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LimitId {
    workspace: Option<Workspace>,
    name: String,
}

impl LimitId {
    /// Creates the id of a limit. Take the workspace from the session, not from the request: the workspace isolates tenants from each other. Fails
    /// with `Conflict` if the name is empty or contains a NUL character, and if the workspace is empty.
    pub fn new(workspace: Option<&Workspace>, name: impl Into<String>) -> Result<Self, StoreError> {
        let name = name.into();
        if name.is_empty() || name.contains('\0') {
            return Err(StoreError::Conflict(
                "the name of the limit is empty or contains a NUL character: use a name such as `calls per minute`".to_owned(),
            ));
        }
        if workspace.is_some_and(|workspace| workspace.as_str().is_empty()) {
            return Err(StoreError::Conflict(format!(
                "the workspace of the limit `{name}` is empty: use `None` for a limit of the whole host"
            )));
        }
        Ok(Self {
            workspace: workspace.cloned(),
            name,
        })
    }

    /// Returns the workspace; `None` for a limit of the whole host.
    pub fn workspace(&self) -> Option<&Workspace> {
        self.workspace.as_ref()
    }

    /// Returns the name in the workspace.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for LimitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "limit `{}`", self.name)?;
        match &self.workspace {
            Some(workspace) => write!(f, " of workspace `{}`", workspace.as_str()),
            None => write!(f, " of the host"),
        }
    }
}

/// The rule of a shared limit, which defines the calls that the limit allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LimitRule {
    /// A burst of `calls`, and then one more call every `period / calls`.
    Rate {
        /// The number of calls in a period.
        calls: u32,
        /// The length of the period, at least a microsecond for each call.
        period: Duration,
    },
    /// A number of calls within a window that begins with the first of them. The next window begins with the first call after the end of this window.
    Quota {
        /// The number of calls in a window.
        calls: u32,
        /// The length of the window, at least a millisecond.
        window: Duration,
    },
    /// A number of concurrent calls. Each call has a permit with a lease, and the process of the call renews the lease.
    AtOnce {
        /// The number of permits, at most [`LimitRule::MOST_PERMITS`].
        permits: u32,
        /// The length of a lease, at least a millisecond. If a process dies, its permits are released when their leases end.
        lease: Duration,
    },
}

impl LimitRule {
    /// The maximum number of permits of [`AtOnce`](Self::AtOnce), because all permits of a limit are stored in one row.
    pub const MOST_PERMITS: u32 = 1_000;

    /// Checks the numbers. Fails with `Conflict` if the rule allows no calls, if a time is too short, or if there are too many permits.
    pub fn check(&self) -> Result<(), StoreError> {
        let wrong = |why: String| Err(StoreError::Conflict(why));
        let (calls, shortest, time) = match *self {
            Self::Rate { calls, period } => (calls, Duration::from_micros(calls.into()), period),
            Self::Quota { calls, window } => (calls, Duration::from_millis(1), window),
            Self::AtOnce { permits, lease } => (permits, Duration::from_millis(1), lease),
        };
        if calls == 0 {
            return wrong("the shared limit allows no calls: hide the tool instead".to_owned());
        }
        if time < shortest {
            return wrong(format!(
                "the time of the shared limit is too short: set at least {shortest:?}"
            ));
        }
        if matches!(self, Self::AtOnce { .. }) && calls > Self::MOST_PERMITS {
            return wrong(format!(
                "the shared limit has {calls} permits: set at most {}",
                Self::MOST_PERMITS
            ));
        }
        Ok(())
    }
}

/// A request for one unit of a shared limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitTake {
    /// The limit. Its row is created by the first request.
    pub id: LimitId,
    /// The rule of the limit. All processes should use the same rule, because each request applies its own rule.
    pub rule: LimitRule,
    /// A random, unique name of the permit. If a request is repeated with the same name, the call has one permit. Rates and quotas ignore the name,
    /// but it must not be empty.
    pub token: String,
    /// When the request is made.
    pub at: Timestamp,
}

impl LimitTake {
    /// Checks the conditions of [`LimitStore::take_limit`] that do not depend on stored rows. Fails with `Conflict` if [`LimitRule::check`] refuses
    /// the rule, or if the token is empty or contains a NUL character.
    pub fn check(&self) -> Result<(), StoreError> {
        self.rule.check()?;
        if self.token.is_empty() || self.token.contains('\0') {
            return Err(StoreError::Conflict(format!(
                "the token of a permit of the {} is empty or contains a NUL character: use a random text",
                self.id
            )));
        }
        Ok(())
    }
}

/// One unit of a shared limit, for [`LimitStore::return_limit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitUnit {
    /// A call of a rate, which cannot be returned.
    Rate,
    /// A call of a quota.
    Call {
        /// The beginning of the window in which the call is counted, in microseconds since 1970 by the clock of the store.
        window: i64,
    },
    /// A permit of a concurrent call.
    Permit {
        /// The name of the permit.
        token: String,
    },
}

/// The result of [`LimitStore::take_limit`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LimitTaken {
    /// The limit allows the call, and counts it.
    Taken(LimitUnit),
    /// The limit is exhausted, and nothing was changed. A rate or a quota allows the next call after this time, unless another process takes it
    /// first. For concurrent calls, this is the time after which the first lease ends if it is not renewed; a permit is released earlier if one of
    /// the calls ends.
    Refused(Duration),
}

/// A shared limit as it is stored.
///
/// Its methods include the state transitions of a row, for authors of a store that cannot make the transition in one conditional `UPDATE`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LimitRow {
    /// The id of the limit.
    pub id: LimitId,
    /// The beginning of the window of a quota, or the time at which a rate allows a whole burst again; in microseconds since 1970 by the clock of the
    /// store.
    pub since: i64,
    /// The number of calls in the window of a quota.
    pub used: u64,
    /// The permits of concurrent calls, with the ends of their leases. Permits whose lease has ended are removed when the next permit is taken.
    pub permits: BTreeMap<String, Timestamp>,
    /// The time from which the row counts no call and has no permit, so that [`Maintenance::purge`](super::Maintenance::purge) removes it.
    pub ends: Timestamp,
    /// When the row was last changed.
    pub updated: Timestamp,
}

/// The numbers of a rate in microseconds.
pub(crate) struct Rate {
    /// The time for which one call counts.
    pub(crate) interval: i64,
    /// The time for which a whole burst counts.
    pub(crate) burst: i64,
}

impl Rate {
    pub(crate) fn new(calls: u32, period: Duration) -> Self {
        let calls = i64::from(calls).max(1);
        let period = micros(period);
        // The interval is rounded up, so that the rate is never exceeded.
        let interval = (period.saturating_add(calls - 1) / calls).max(1);
        Self {
            interval,
            burst: interval.saturating_mul(calls),
        }
    }
}

/// Returns a time span in microseconds, at most 10,000 years, so that sums do not overflow.
pub(crate) fn micros(time: Duration) -> i64 {
    const MOST: i64 = 10_000 * 366 * 24 * 3_600 * 1_000_000;
    i64::try_from(time.as_micros()).unwrap_or(MOST).min(MOST)
}

/// Returns a time in microseconds since 1970.
pub(crate) fn micros_of(time: Timestamp) -> i64 {
    time.as_millis().saturating_mul(1_000)
}

/// Returns the latest time that a row contains if no clock was set back: `at` plus the time for which the row counts, plus a minute. The minute is
/// necessary because a transaction of PostgreSQL reads the clock before it waits for the lock of a row.
pub(crate) fn latest(at: i64, time: i64) -> i64 {
    const MARGIN: i64 = 60_000_000;
    at.saturating_add(time).saturating_add(MARGIN)
}

/// Returns the first millisecond that is not before a time in microseconds.
fn ceiling(micros: i64) -> Timestamp {
    Timestamp::from_millis(micros.saturating_add(999).div_euclid(1_000))
}

impl LimitRow {
    /// Creates the row of a limit, with nothing counted.
    pub fn new(id: LimitId, at: Timestamp) -> Self {
        Self {
            id,
            since: 0,
            used: 0,
            permits: BTreeMap::new(),
            ends: at,
            updated: at,
        }
    }

    /// Applies [`LimitStore::take_limit`] to the row. `now` is the time by the clock of the store. Returns `None`, and changes nothing, if the limit
    /// is exhausted.
    pub fn take(&mut self, take: &LimitTake, now: Timestamp) -> Option<LimitUnit> {
        let at = micros_of(now);
        let unit = match take.rule {
            LimitRule::Rate { calls, period } => {
                let rate = Rate::new(calls, period);
                let full = self.full_at(&rate, at).saturating_add(rate.interval);
                if full - at > rate.burst {
                    return None;
                }
                self.since = full;
                self.ends = ceiling(full);
                LimitUnit::Rate
            }
            LimitRule::Quota { calls, window } => {
                let window = micros(window);
                if self.is_over(window, at) {
                    (self.since, self.used) = (at, 0);
                }
                if self.used >= u64::from(calls) {
                    return None;
                }
                self.used += 1;
                self.ends = ceiling(self.since.saturating_add(window));
                LimitUnit::Call { window: self.since }
            }
            LimitRule::AtOnce { permits, lease } => {
                let is_other = |token: &String, end: Timestamp| end > now && *token != take.token;
                let held = self.permits.iter();
                let held = held.filter(|(token, end)| is_other(token, **end)).count();
                if held >= permits as usize {
                    return None;
                }
                let until = now.plus(lease);
                self.permits.retain(|token, end| is_other(token, *end));
                self.permits.insert(take.token.clone(), until);
                self.ends = self.ends.max(until);
                LimitUnit::Permit {
                    token: take.token.clone(),
                }
            }
        };
        self.updated = now;
        Some(unit)
    }

    /// Returns the time at which a rate allows a whole burst again: at the earliest `at`, and `at` if a clock was set back.
    fn full_at(&self, rate: &Rate, at: i64) -> i64 {
        if self.since > latest(at, rate.burst) {
            at
        } else {
            self.since.max(at)
        }
    }

    /// Returns whether a new window of a quota begins: the stored window has ended, has no calls, or begins too late because a clock was set back.
    fn is_over(&self, window: i64, at: i64) -> bool {
        self.used == 0 || at >= self.since.saturating_add(window) || self.since > latest(at, window)
    }

    /// Returns the time after which an exhausted limit may allow a call, as in [`LimitTaken::Refused`]; at least a millisecond.
    pub fn wait(&self, rule: &LimitRule, now: Timestamp) -> Duration {
        let at = micros_of(now);
        let until = match *rule {
            LimitRule::Rate { calls, period } => {
                let rate = Rate::new(calls, period);
                self.full_at(&rate, at) + rate.interval - rate.burst
            }
            LimitRule::Quota { window, .. } => self.since.saturating_add(micros(window)),
            LimitRule::AtOnce { .. } => {
                let ends = self.permits.values().filter(|end| **end > now);
                ends.min().map_or(at, |end| micros_of(*end))
            }
        };
        let wait = u64::try_from(until.saturating_sub(at)).unwrap_or_default();
        Duration::from_micros(wait).max(Duration::from_millis(1))
    }

    /// Applies [`LimitStore::extend_permit`] to the row. Returns false, and changes nothing, if the row has no permit with this name, or if the
    /// lease of the permit has ended.
    pub fn extend(&mut self, token: &str, lease: Duration, now: Timestamp) -> bool {
        let Some(end) = self.permits.get_mut(token).filter(|end| **end > now) else {
            return false;
        };
        *end = now.plus(lease);
        self.ends = self.ends.max(*end);
        self.updated = now;
        true
    }

    /// Applies [`LimitStore::return_limit`] to the row. Returns false, and changes nothing, if the unit is no longer counted.
    pub fn return_unit(&mut self, unit: &LimitUnit, now: Timestamp) -> bool {
        let is_counted = match unit {
            LimitUnit::Rate => false,
            LimitUnit::Call { window } => {
                let is_counted = self.since == *window && self.used > 0;
                self.used -= u64::from(is_counted);
                is_counted
            }
            LimitUnit::Permit { token } => self.permits.remove(token).is_some(),
        };
        if is_counted {
            self.updated = now;
        }
        is_counted
    }
}

/// A store of limits on calls that any number of processes share.
///
/// Each request is one conditional change of one row, by the clock of the store, so processes together never take more units than a limit allows. A
/// request that is refused changes nothing. A permit has a lease: if its process dies, the permit is released when the lease ends.
///
/// ```
/// use std::time::Duration;
/// use tool_store::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), StoreError> {
/// let (store, at) = (MemoryStore::default(), Timestamp::now());
/// let id = LimitId::new(Some(&Workspace::new("acme")), "requests to the model")?;
/// let rule = LimitRule::AtOnce { permits: 1, lease: Duration::from_secs(30) };
/// let take = LimitTake { id: id.clone(), rule, token: "4f1c".into(), at };
/// let LimitTaken::Taken(permit) = store.take_limit(take.clone()).await? else { unreachable!() };
///
/// let other = LimitTake { token: "93ab".into(), ..take };
/// assert!(matches!(store.take_limit(other.clone()).await?, LimitTaken::Refused(_)));
/// store.return_limit(&id, &permit, at).await?;
/// assert!(matches!(store.take_limit(other).await?, LimitTaken::Taken(_)));
/// # Ok(())
/// # }
/// ```
#[doc(alias("rate limit", "quota", "semaphore", "throttle", "concurrency"))]
pub trait LimitStore: Send + Sync + 'static {
    /// Takes one unit of a limit, by the rules of [`LimitRow::take`]. Fails with `Conflict` if [`LimitTake::check`] refuses the request.
    fn take_limit(&self, take: LimitTake) -> StoreFuture<'_, LimitTaken>;

    /// Restarts the lease of a permit, at the time `at` by the clock of the store. Returns false, and changes nothing, if the lease has ended, or if
    /// the permit is unknown, for example because it was returned.
    fn extend_permit<'a>(
        &'a self,
        id: &'a LimitId,
        token: &'a str,
        lease: Duration,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Returns a unit: a permit whose call has ended, or a call of a quota that was not made because another limit refused it. Returns false, and
    /// changes nothing, if the unit is no longer counted, and for a unit of a rate.
    fn return_limit<'a>(
        &'a self,
        id: &'a LimitId,
        unit: &'a LimitUnit,
        at: Timestamp,
    ) -> StoreFuture<'a, bool>;

    /// Returns the row of a limit; `None` if nothing was taken from it yet, or if it was purged.
    fn limit<'a>(&'a self, id: &'a LimitId) -> StoreFuture<'a, Option<LimitRow>>;
}
