//! The policy in force.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::decision::Cause;
use super::{Candidates, Decision, DecisionId, Policy, PolicyBuilder, PolicyVerdict, Request};
use crate::sync::{Edition, Versioned};

/// Versions that can still be explained.
const REMEMBERED: usize = 32;
/// Differences that a shadow keeps.
const MOST_DIFFERENCES: usize = 256;

/// The policy in force: cheap to clone, one for all clones.
///
/// It can be replaced while calls run; every decision is made by one version as a whole. A second policy can be tried in its
/// shadow, and a tool can be switched off for a tenant at once, in this process.
///
/// ```
/// use tool_core::policy::{Policy, PolicyVerdict, Rule, SharedPolicy};
///
/// # fn main() -> Result<(), tool_core::policy::PolicyError> {
/// let shared = SharedPolicy::default();
/// let before = shared.current();
/// shared.replace(Policy::builder().rule(Rule::ask("all")).build()?);
/// assert_ne!(shared.current().version(), before.version());
///
/// shared.kill("send_mail", Some("acme"));
/// assert!(shared.is_killed("send_mail", "acme"));
/// assert!(!shared.is_killed("send_mail", "globex"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SharedPolicy(Arc<Inner>);

struct Inner {
    state: Versioned<State>,
    kills: watch::Sender<Arc<Kills>>,
    past: Mutex<VecDeque<Arc<Policy>>>,
}

/// Everything that one decision is made by.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) policy: Arc<Policy>,
    kills: Arc<Kills>,
    shadow: Option<Arc<Shadow>>,
}

/// Tools that are switched off; for one tenant or for all.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kills(BTreeSet<(String, Option<String>)>);

impl Kills {
    fn hold(&self, tool: &str, tenant: &str) -> bool {
        !self.0.is_empty() && self.of(tenant).any(|killed| killed == tool)
    }

    /// Tools that are switched off for a tenant.
    pub(crate) fn of<'a>(&'a self, tenant: &'a str) -> impl Iterator<Item = &'a str> {
        let mine = self
            .0
            .iter()
            .filter(move |(_, of)| of.as_deref().is_none_or(|of| of == tenant));
        mine.map(|(tool, _)| tool.as_str())
    }
}

/// A policy that is tried without being in force.
#[derive(Debug)]
struct Shadow {
    policy: Arc<Policy>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    judged: u64,
    differed: u64,
    differences: VecDeque<Difference>,
}

/// What a policy in the shadow would have said so far.
#[derive(Clone, Debug)]
pub struct ShadowReport {
    /// Its version.
    pub policy: Arc<str>,
    /// Calls that it was asked about.
    pub judged: u64,
    /// Calls that it would have judged otherwise.
    pub differed: u64,
    /// The last of these, oldest first.
    pub differences: Vec<Difference>,
}

/// A call that the policy in the shadow would have judged otherwise.
#[derive(Clone, Debug)]
pub struct Difference {
    /// The tool.
    pub tool: String,
    /// The tenant.
    pub tenant: String,
    /// What was decided.
    pub decided: Decision,
    /// What the policy in the shadow would have decided.
    pub would: Decision,
}

impl State {
    pub(crate) fn kills(&self) -> &Kills {
        &self.kills
    }

    pub(crate) fn is_killed(&self, tool: &str, tenant: &str) -> bool {
        self.kills.hold(tool, tenant)
    }

    /// What holds for a call, with the kill switch and the shadow.
    pub(crate) fn decide(
        &self,
        candidates: Option<&Candidates>,
        request: &Request<'_>,
    ) -> Decision {
        let decision = if self.is_killed(request.tool.name(), request.tenant) {
            let reason = Some(Arc::from("the tool is switched off"));
            self.policy
                .without_rule(PolicyVerdict::Deny, Cause::Killed, reason)
        } else {
            match candidates {
                Some(candidates) => self.policy.decide_among(candidates, request),
                None => self.policy.decide(request),
            }
        };
        if let Some(shadow) = &self.shadow {
            shadow.judge(&decision, request);
        }
        decision
    }
}

impl Shadow {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn judge(&self, decided: &Decision, request: &Request<'_>) {
        // A switched off tool is off under every policy.
        if decided.id.cause == Cause::Killed {
            return;
        }
        let would = self.policy.decide(request);
        let differs = (would.verdict, would.four_eyes) != (decided.verdict, decided.four_eyes);
        if differs {
            tracing::info!(
                tool = request.tool.name(),
                tenant = request.tenant,
                decision = %decided.id,
                verdict = decided.verdict.as_str(),
                shadow.decision = %would.id,
                shadow.verdict = would.verdict.as_str(),
                "the policy in the shadow would have decided otherwise"
            );
        }
        let mut seen = self.seen();
        seen.judged += 1;
        if differs {
            seen.differed += 1;
            if seen.differences.len() == MOST_DIFFERENCES {
                seen.differences.pop_front();
            }
            seen.differences.push_back(Difference {
                tool: request.tool.name().to_owned(),
                tenant: request.tenant.to_owned(),
                decided: decided.clone(),
                would,
            });
        }
    }

    fn report(&self) -> ShadowReport {
        let seen = self.seen();
        ShadowReport {
            policy: Arc::clone(&self.policy.version),
            judged: seen.judged,
            differed: seen.differed,
            differences: seen.differences.iter().cloned().collect(),
        }
    }
}

impl SharedPolicy {
    /// Puts a policy in force.
    pub fn new(policy: Policy) -> Self {
        let policy = Arc::new(policy);
        let kills = Arc::new(Kills::default());
        Self(Arc::new(Inner {
            kills: watch::Sender::new(Arc::clone(&kills)),
            past: Mutex::new(VecDeque::from([Arc::clone(&policy)])),
            state: Versioned::new(State {
                policy,
                kills,
                shadow: None,
            }),
        }))
    }

    /// The policy in force.
    pub fn current(&self) -> Arc<Policy> {
        Arc::clone(&self.state().policy)
    }

    pub(crate) fn state(&self) -> Arc<Edition<State>> {
        self.0.state.read()
    }

    /// Whether nothing changed since.
    /// The number of the edition in force, kill switches included. It grows with each change.
    pub(crate) fn edition(&self) -> u64 {
        self.0.state.number()
    }

    pub(crate) fn is_latest(&self, state: &Edition<State>) -> bool {
        self.0.state.is_latest(state)
    }

    fn change(
        &self,
        change: impl FnOnce(&State) -> (Arc<Policy>, Arc<Kills>, Option<Arc<Shadow>>),
    ) {
        let mut state = self.0.state.write();
        let (policy, kills, shadow) = change(&state);
        self.remember(&policy);
        if let Some(shadow) = &shadow {
            self.remember(&shadow.policy);
        }
        let told = !Arc::ptr_eq(&kills, &state.kills);
        state.put(State {
            policy,
            kills: Arc::clone(&kills),
            shadow,
        });
        // Under the lock, so that subscribers see the changes in their order.
        if told {
            self.0.kills.send_replace(kills);
        }
    }

    fn remember(&self, policy: &Arc<Policy>) {
        let mut past = self.0.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.retain(|old| old.hash() != policy.hash());
        if past.len() == REMEMBERED {
            past.pop_front();
        }
        past.push_back(Arc::clone(policy));
    }

    /// Puts another policy in force; the next decision is its. Gives the one that was in force.
    pub fn replace(&self, policy: Policy) -> Arc<Policy> {
        let before = self.current();
        let policy = Arc::new(policy);
        self.change(|state| (policy, Arc::clone(&state.kills), state.shadow.clone()));
        before
    }

    /// What holds for a call: the kill switch, then the policy.
    pub fn decide(&self, request: &Request<'_>) -> Decision {
        self.state().decide(None, request)
    }

    /// Tries a policy: the one in force goes on deciding, and where this one would have decided otherwise, that is logged and
    /// counted. A policy that was tried before is forgotten.
    pub fn shadow(&self, policy: Policy) {
        let shadow = Arc::new(Shadow {
            policy: Arc::new(policy),
            seen: Mutex::default(),
        });
        self.change(|state| {
            (
                Arc::clone(&state.policy),
                Arc::clone(&state.kills),
                Some(shadow),
            )
        });
    }

    /// What the policy in the shadow would have said so far; `None` where none is tried.
    pub fn shadow_report(&self) -> Option<ShadowReport> {
        self.state().shadow.as_ref().map(|shadow| shadow.report())
    }

    /// Stops trying, and gives the report.
    pub fn end_shadow(&self) -> Option<ShadowReport> {
        let mut shadow = None;
        self.change(|state| {
            shadow.clone_from(&state.shadow);
            (Arc::clone(&state.policy), Arc::clone(&state.kills), None)
        });
        shadow.map(|shadow| shadow.report())
    }

    /// Switches a tool off in this process, for one tenant or for all: the next dispatch refuses it, and who waits at
    /// [`killed`](SharedPolicy::killed) is told. The name is the tool's own. Gives whether it was on.
    ///
    /// Nothing is stored: other processes do not see it, and it ends with the process. [`Switches`](crate::Switches) are stored.
    pub fn kill(&self, tool: impl Into<String>, tenant: Option<&str>) -> bool {
        let key = (tool.into(), tenant.map(str::to_owned));
        self.switch(|kills| kills.insert(key))
    }

    /// Takes a [`kill`](SharedPolicy::kill) back, as it was given. Gives whether there was one.
    pub fn revive(&self, tool: impl Into<String>, tenant: Option<&str>) -> bool {
        let key = (tool.into(), tenant.map(str::to_owned));
        self.switch(|kills| kills.remove(&key))
    }

    fn switch(&self, change: impl FnOnce(&mut BTreeSet<(String, Option<String>)>) -> bool) -> bool {
        let mut changed = false;
        self.change(|state| {
            let mut kills = Kills::clone(&state.kills);
            changed = change(&mut kills.0);
            let kills = if changed {
                Arc::new(kills)
            } else {
                Arc::clone(&state.kills)
            };
            (Arc::clone(&state.policy), kills, state.shadow.clone())
        });
        changed
    }

    /// Whether a tool is switched off for a tenant.
    pub fn is_killed(&self, tool: &str, tenant: &str) -> bool {
        self.state().is_killed(tool, tenant)
    }

    /// Waits until a tool is switched off for a tenant; at once where it is. For whoever runs a call and can cancel it.
    pub fn killed(
        &self,
        tool: impl Into<String>,
        tenant: impl Into<String>,
    ) -> impl Future<Output = ()> + Send + 'static {
        let (tool, tenant) = (tool.into(), tenant.into());
        let mut kills = self.0.kills.subscribe();
        async move {
            if kills
                .wait_for(|kills| kills.hold(&tool, &tenant))
                .await
                .is_err()
            {
                // Nobody is left who could switch it off.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Why a decision came out as it did, by its id as it stands in an audit row. Knows the last 32 versions that were in
    /// force or tried; `None` for older ones, and for what is no id.
    pub fn explain(&self, id: &str) -> Option<String> {
        let id: DecisionId = id.parse().ok()?;
        let past = self.0.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.iter().find_map(|policy| policy.explain(&id))
    }
}

/// A policy that allows everything.
impl Default for SharedPolicy {
    fn default() -> Self {
        Self::new(Policy::anything())
    }
}

impl fmt::Debug for SharedPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_struct("SharedPolicy")
            .field("version", &state.policy.version())
            .field("edition", &state.number)
            .field("kills", &state.kills.0)
            .finish_non_exhaustive()
    }
}

impl From<Policy> for SharedPolicy {
    fn from(policy: Policy) -> Self {
        Self::new(policy)
    }
}

impl PolicyBuilder {
    /// Builds, and puts in force.
    pub fn share(self) -> Result<SharedPolicy, super::PolicyError> {
        self.build().map(SharedPolicy::new)
    }
}
