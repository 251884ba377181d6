//! Rules that can hide a tool while a turn runs: policies, disables and switches.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

#[cfg(feature = "host")]
use super::instance::InstanceView;
use super::layer::Layer;
use super::rules::Subject;
#[cfg(feature = "host")]
use super::switches::SwitchesView;
use crate::policy::{PolicyState, SharedPolicy};
use crate::sync::{Edition, Versioned};
use crate::tool::ToolDef;

/// Tools that people switch off while turns run. Clones are cheap and share one state. A host creates one `Disables` for each instance.
///
/// A switched-off tool is refused from the next dispatch on; a tool that is switched on again is visible in the next turn. The state
/// exists only in this process and ends with it. [`Switches`](crate::Switches) are stored.
///
/// ```
/// use tool_core::{Disables, Rules};
///
/// let disables = Disables::default();
/// let rules = Rules::default().disables(&disables);
/// assert!(disables.disable("send_mail"));
/// assert!(disables.holds("send_mail"));
/// # drop(rules);
/// ```
#[derive(Clone, Default)]
pub struct Disables(Arc<Versioned<BTreeSet<String>>>);

impl Disables {
    /// Switches a tool off by its own name or an alias. Returns whether it was on.
    pub fn disable(&self, tool: impl Into<String>) -> bool {
        let tool = tool.into();
        self.change(|names| names.insert(tool))
    }

    /// Switches a tool on again. Returns whether it was off.
    pub fn enable(&self, tool: &str) -> bool {
        self.change(|names| names.remove(tool))
    }

    fn change(&self, change: impl FnOnce(&mut BTreeSet<String>) -> bool) -> bool {
        let mut writing = self.0.write();
        let mut names = writing.clone();
        let changed = change(&mut names);
        if changed {
            writing.put(names);
        }
        changed
    }

    /// Returns whether a tool is switched off by this name. Rules also switch a tool off by its [aliases](ToolDef::aliases).
    pub fn holds(&self, tool: &str) -> bool {
        self.0.read().contains(tool)
    }
}

impl fmt::Debug for Disables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.read().iter()).finish()
    }
}

/// The tools that were switched off when the rules were loaded.
#[derive(Clone, Debug)]
pub(super) struct DisablesView {
    pub(super) shared: Disables,
    pub(super) names: Arc<Edition<BTreeSet<String>>>,
}

impl DisablesView {
    pub(super) fn new(shared: &Disables) -> Self {
        Self {
            shared: shared.clone(),
            names: shared.0.read(),
        }
    }
}

/// The policy at the time when the rules were loaded.
#[derive(Clone, Debug)]
pub(crate) struct PolicyView {
    pub(crate) shared: SharedPolicy,
    pub(crate) state: Arc<Edition<PolicyState>>,
}

impl PolicyView {
    pub(super) fn new(shared: &SharedPolicy) -> Self {
        Self {
            shared: shared.clone(),
            state: shared.state(),
        }
    }

    /// Returns the current state. Takes a lock only if the state has changed.
    pub(crate) fn now(&self) -> Arc<Edition<PolicyState>> {
        if self.shared.is_latest(&self.state) {
            Arc::clone(&self.state)
        } else {
            self.shared.state()
        }
    }
}

/// The live rules that each dispatch checks. The check is cheap if nothing has changed since the rules were loaded.
#[derive(Clone, Debug)]
pub(crate) struct Live {
    pub(crate) policy: Option<PolicyView>,
    disables: Option<DisablesView>,
    #[cfg(feature = "host")]
    pub(crate) switches: Option<SwitchesView>,
    #[cfg(feature = "host")]
    pub(crate) instance: Option<InstanceView>,
    tenant: String,
    principal: String,
    agent: Option<String>,
}

impl Live {
    pub(super) fn new(
        policy: Option<PolicyView>,
        disables: Option<DisablesView>,
        #[cfg(feature = "host")] switches: Option<SwitchesView>,
        #[cfg(feature = "host")] instance: Option<InstanceView>,
        subject: &Subject<'_>,
    ) -> Self {
        Self {
            policy,
            disables,
            #[cfg(feature = "host")]
            switches,
            #[cfg(feature = "host")]
            instance,
            tenant: subject.tenant.to_owned(),
            principal: subject.principal.to_owned(),
            agent: subject.agent.map(str::to_owned),
        }
    }

    /// Returns whether the rules have stored state that is polled.
    #[cfg(feature = "host")]
    pub(crate) fn is_polled(&self) -> bool {
        self.switches.is_some() || self.instance.is_some()
    }

    /// Rereads stored state that was read too long ago.
    #[cfg(feature = "host")]
    pub(crate) async fn freshen(&self) {
        if let Some(view) = &self.switches {
            view.shared.freshen().await;
        }
        if let Some(view) = &self.instance {
            view.freshen().await;
        }
    }

    /// Returns the layer that hides a tool now, if the rules have changed since they were loaded or their stored state is too old.
    pub(crate) fn hides(&self, def: &ToolDef) -> Option<Layer> {
        if let Some(view) = &self.disables
            && !view.shared.0.is_latest(&view.names)
            && def.names().any(|name| view.shared.holds(name))
        {
            return Some(Layer::Disabled);
        }
        #[cfg(feature = "host")]
        if let Some(view) = &self.switches
            && let Some(layer) = view.hides(def, &self.tenant)
        {
            return Some(layer);
        }
        #[cfg(feature = "host")]
        if let Some(view) = &self.instance
            && let Some(layer) = view.hides(def)
        {
            return Some(layer);
        }
        let view = self.policy.as_ref()?;
        if view.shared.is_latest(&view.state) {
            return None;
        }
        let state = view.shared.state();
        let (policy, agent) = (&state.policy, self.agent.as_deref());
        let global = policy.global_lists();
        let lists = policy.agent_lists(agent);
        if global.leaves_out_tool(def) || global.denies_tool(def) {
            Some(Layer::Global)
        } else if lists.is_some_and(|lists| lists.leaves_out_tool(def)) {
            Some(Layer::Allow)
        } else if lists.is_some_and(|lists| lists.denies_tool(def)) {
            Some(Layer::Deny)
        } else if policy.forbids(def, &self.tenant, &self.principal, agent) {
            Some(Layer::Policy)
        } else {
            state.kills_tool(def, &self.tenant).then_some(Layer::Killed)
        }
    }
}
