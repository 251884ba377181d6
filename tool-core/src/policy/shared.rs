//! The policy in force, shared by all clones and replaceable at run time.

use std::collections::{BTreeSet, VecDeque};
use std::fmt;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::{
    Candidates, Decision, DecisionId, Policy, PolicyBuilder, PolicyRequest, PolicyVerdict,
};
use crate::decision::Cause;
use crate::sync::{Edition, Versioned};
use crate::tool::ToolDef;

/// Maximum number of policy versions whose decisions can still be explained.
const REMEMBERED: usize = 32;
/// Maximum number of differences that are recorded for a shadow policy.
const MOST_DIFFERENCES: usize = 256;

/// The policy in force. Clones are cheap and share one state.
///
/// It can be replaced while calls run; exactly one version makes each decision. A second policy can be tried in shadow mode, and a kill
/// switch can turn a tool off for a tenant at once, in this process.
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
    kills: watch::Sender<Arc<KillSwitches>>,
    past: Mutex<VecDeque<Arc<Policy>>>,
}

/// The state that one decision is based on.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) policy: Arc<Policy>,
    kills: Arc<KillSwitches>,
    shadow: Option<Arc<Shadow>>,
}

/// Tools whose kill switch is on, for one tenant or for all.
#[derive(Clone, Debug, Default)]
pub(crate) struct KillSwitches(BTreeSet<(String, Option<String>)>);

impl KillSwitches {
    fn hold(&self, tool: &str, tenant: &str) -> bool {
        !self.0.is_empty() && self.of(tenant).any(|killed| killed == tool)
    }

    /// Returns the tools whose kill switch applies to a tenant.
    pub(crate) fn of<'a>(&'a self, tenant: &'a str) -> impl Iterator<Item = &'a str> {
        let mine = self
            .0
            .iter()
            .filter(move |(_, of)| of.as_deref().is_none_or(|of| of == tenant));
        mine.map(|(tool, _)| tool.as_str())
    }
}

/// A policy that is evaluated but not enforced.
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

/// The decisions of a shadow policy so far, compared with the policy in force.
#[derive(Clone, Debug)]
pub struct ShadowReport {
    /// Version of the shadow policy.
    pub policy: Arc<str>,
    /// Number of decisions that the shadow policy has made. It decides again on a call whose rules have changed before its body begins.
    pub judged: u64,
    /// Number of these decisions that differ from the decision of the policy in force.
    pub differed: u64,
    /// The most recent differences (at most 256), oldest first.
    pub differences: Vec<Difference>,
}

/// A call on which the shadow policy would have decided differently.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Name of the called tool.
    pub tool: String,
    /// The tenant of the caller.
    pub tenant: String,
    /// The decision of the policy in force.
    pub decided: Decision,
    /// The decision of the shadow policy.
    pub would: Decision,
}

impl State {
    pub(crate) fn kills(&self) -> &KillSwitches {
        &self.kills
    }

    pub(crate) fn is_killed(&self, tool: &str, tenant: &str) -> bool {
        self.kills.hold(tool, tenant)
    }

    /// Returns whether a kill switch applies to the tool, by its own name or an alias.
    pub(crate) fn kills_tool(&self, def: &ToolDef, tenant: &str) -> bool {
        def.names().any(|name| self.is_killed(name, tenant))
    }

    /// Decides about a call by the kill switches, then by the policy. The shadow policy is evaluated as well, unless a kill switch decides.
    pub(crate) fn decide(
        &self,
        candidates: Option<&Candidates>,
        request: &PolicyRequest<'_>,
    ) -> Decision {
        let decision = if self.kills_tool(request.tool, request.tenant) {
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

    fn judge(&self, decided: &Decision, request: &PolicyRequest<'_>) {
        // A kill switch applies under every policy, so there is no difference.
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
                "the shadow policy would have decided differently"
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
    /// Creates a shared policy with `policy` in force.
    pub fn new(policy: Policy) -> Self {
        let policy = Arc::new(policy);
        let kills = Arc::new(KillSwitches::default());
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

    /// Returns the policy in force.
    pub fn current(&self) -> Arc<Policy> {
        Arc::clone(&self.state().policy)
    }

    pub(crate) fn state(&self) -> Arc<Edition<State>> {
        self.0.state.read()
    }

    /// Returns the number of the edition in force. It increases with each change, including changes of kill switches.
    pub(crate) fn edition(&self) -> u64 {
        self.0.state.number()
    }

    /// Returns whether nothing has changed since `state` was read.
    pub(crate) fn is_latest(&self, state: &Edition<State>) -> bool {
        self.0.state.is_latest(state)
    }

    fn change(
        &self,
        change: impl FnOnce(&State) -> (Arc<Policy>, Arc<KillSwitches>, Option<Arc<Shadow>>),
    ) {
        let mut state = self.0.state.write();
        let (policy, kills, shadow) = change(&state);
        self.remember(&policy);
        if let Some(shadow) = &shadow {
            self.remember(&shadow.policy);
        }
        let kills_changed = !Arc::ptr_eq(&kills, &state.kills);
        state.put(State {
            policy,
            kills: Arc::clone(&kills),
            shadow,
        });
        // The change is sent under the lock, so that subscribers receive all changes in order.
        if kills_changed {
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

    /// Puts a new policy in force from the next decision on. Returns the previous policy.
    pub fn replace(&self, policy: Policy) -> Arc<Policy> {
        let policy = Arc::new(policy);
        let mut before = Arc::clone(&policy);
        // The previous policy is read under the lock. Otherwise two concurrent calls could return the same one.
        self.change(|state| {
            before = Arc::clone(&state.policy);
            (policy, Arc::clone(&state.kills), state.shadow.clone())
        });
        before
    }

    /// Decides about a call: by the kill switches, then by the policy.
    pub fn decide(&self, request: &PolicyRequest<'_>) -> Decision {
        self.state().decide(None, request)
    }

    /// Tries a policy in shadow mode: the policy in force continues to decide, and differing decisions of `policy` are logged
    /// and counted. `policy` replaces a shadow policy that was set before.
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

    /// Returns the report on the shadow policy; `None` without a shadow policy.
    pub fn shadow_report(&self) -> Option<ShadowReport> {
        self.state().shadow.as_ref().map(|shadow| shadow.report())
    }

    /// Ends the shadow mode and returns its report.
    pub fn end_shadow(&self) -> Option<ShadowReport> {
        let mut shadow = None;
        self.change(|state| {
            shadow.clone_from(&state.shadow);
            (Arc::clone(&state.policy), Arc::clone(&state.kills), None)
        });
        shadow.map(|shadow| shadow.report())
    }

    /// Turns a tool's kill switch on in this process, for one tenant or, with `None`, for all. From then on, calls of the tool are
    /// refused, and futures of [`killed`](SharedPolicy::killed) complete. `tool` is the tool's own name or an alias. Returns whether the switch was
    /// off before.
    ///
    /// The switch is not stored: it affects only this process, and is lost when the process ends. [`Switches`](crate::Switches) are stored.
    pub fn kill(&self, tool: impl Into<String>, tenant: Option<&str>) -> bool {
        let key = (tool.into(), tenant.map(str::to_owned));
        self.switch(|kills| kills.insert(key))
    }

    /// Turns off a kill switch that [`kill`](SharedPolicy::kill) set with the same arguments. Returns whether it was on before. A switch that was set under an
    /// alias of the tool must be turned off under this alias.
    pub fn revive(&self, tool: impl Into<String>, tenant: Option<&str>) -> bool {
        let key = (tool.into(), tenant.map(str::to_owned));
        self.switch(|kills| kills.remove(&key))
    }

    fn switch(&self, change: impl FnOnce(&mut BTreeSet<(String, Option<String>)>) -> bool) -> bool {
        let mut changed = false;
        self.change(|state| {
            let mut kills = KillSwitches::clone(&state.kills);
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

    /// Returns whether the kill switch of this name applies to a tenant. A call is also refused by a switch of an [alias](ToolDef::aliases).
    pub fn is_killed(&self, tool: &str, tenant: &str) -> bool {
        self.state().is_killed(tool, tenant)
    }

    /// Completes when a tool's kill switch applies to a tenant, for a caller that can cancel a running call.
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
                // The sender was dropped, so no switch can change.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Explains a decision by its id from an audit row. The last 32 policies that were in force or in shadow mode are searched; returns
    /// `None` for older policies, and for a text that is not a decision id.
    pub fn explain(&self, id: &str) -> Option<String> {
        let id: DecisionId = id.parse().ok()?;
        let past = self.0.past.lock().unwrap_or_else(PoisonError::into_inner);
        past.iter().find_map(|policy| policy.explain(&id))
    }
}

/// Returns a shared policy that allows every call.
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
    /// Builds the policy and puts it in force.
    pub fn share(self) -> Result<SharedPolicy, super::PolicyError> {
        self.build().map(SharedPolicy::new)
    }
}
