//! Visibility rules of a turn, loaded before the turn begins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::current::{Disables, DisablesView, Live, PolicyView};
use super::enablement::{AgentTool, Enablement, Runtime};
#[cfg(feature = "host")]
use super::instance::InstanceView;
#[cfg(feature = "host")]
use super::switches::{Switches, SwitchesView};
use crate::context::ToolContext;
use crate::policy::SharedPolicy;
use crate::policy::lists::{Access, Step, ToolLists};

/// A snapshot of the rules that decide which tools are visible to one turn. It is loaded before the turn and does not change while the turn runs.
///
/// Without any rule, every tool is visible except harness tools and tools that require a secret that the context does not have. A tool that the
/// policy denies later, or that people switch off later, is refused at the next dispatch. A tool that is added later is visible in the next turn.
///
/// ```
/// use tool_core::{Enablement, Rules, Runtime};
///
/// let rules = Rules::default()
///     .runtime(Runtime::Room)
///     .enablement(Enablement::default().manual("search_docs").skill("read_file"))
///     .memory(false)
///     .allow(["search_docs", "read_file"])
///     .deny(["read_file"]);
/// assert!(rules.shows("search_docs"));
/// assert!(!rules.shows("read_file"));
/// assert!(!rules.shows("delete_file"));
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[doc(alias("allowed_tools", "tool filter", "permission"))]
pub struct Rules {
    pub(super) agent: Option<String>,
    pub(super) lists: ToolLists,
    pub(super) parent: Option<Arc<Rules>>,
    pub(super) enablement: Option<Arc<Enablement>>,
    pub(super) memory: bool,
    pub(super) knowledge: bool,
    /// Optional tools, each with the flag that enables it.
    pub(super) optional: BTreeMap<String, String>,
    pub(super) flags: BTreeMap<String, String>,
    pub(super) secrets: Option<BTreeSet<String>>,
    pub(super) runtime: Runtime,
    pub(super) agents: Vec<AgentTool>,
    pub(super) depth: u32,
    pub(super) most_depth: u32,
    pub(super) policy: Option<PolicyView>,
    pub(super) disables: Option<DisablesView>,
    #[cfg(feature = "host")]
    pub(super) switches: Option<SwitchesView>,
    #[cfg(feature = "host")]
    pub(super) instance: Option<InstanceView>,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            agent: None,
            lists: ToolLists::default(),
            parent: None,
            enablement: None,
            memory: true,
            knowledge: true,
            optional: BTreeMap::new(),
            flags: BTreeMap::new(),
            secrets: None,
            runtime: Runtime::Chat,
            agents: Vec::new(),
            depth: 0,
            most_depth: 1,
            policy: None,
            disables: None,
            #[cfg(feature = "host")]
            switches: None,
            #[cfg(feature = "host")]
            instance: None,
        }
    }
}

impl Rules {
    /// Adds names to the allow list: only listed tools may be used. An empty list restricts nothing.
    pub fn allow<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.lists.allow.extend(names.into_iter().map(Into::into));
        self
    }

    /// Adds names to the deny list, which has priority over every other rule.
    pub fn deny<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.lists.deny.extend(names.into_iter().map(Into::into));
        self
    }

    /// Sets the agent of the turn, which selects the agent's lists in the policy; defaults to the context's agent.
    pub fn agent(mut self, agent: impl Into<String>) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Makes these the rules of an agent that the agent of `parent` starts. That agent gets only the tools that both agents may use. Both deny lists
    /// apply. If both have an allow list and these have no common name, the agent has no tools. The agent has no harness tools, and it neither calls
    /// nor starts agents.
    ///
    /// ```
    /// use tool_core::Rules;
    ///
    /// let parent = Rules::default().allow(["web", "read", "shell"]);
    /// let child = Rules::default().allow(["read", "write", "shell"]).for_sub_agent(&parent);
    /// let all = ["web", "read", "write", "shell"];
    /// assert!(all.into_iter().filter(|name| child.shows(name)).eq(["read", "shell"]));
    /// ```
    pub fn for_sub_agent(mut self, parent: &Self) -> Self {
        self.runtime = Runtime::SubAgent;
        self.parent = Some(Arc::new(parent.clone()));
        self
    }

    /// Restricts the tools to harness tools, tools of the category `agent`, and the tools that these rows enable. Without rows, no other tool is
    /// enabled: see [`Enablement::default_open`].
    pub fn enablement(mut self, rows: impl Into<Arc<Enablement>>) -> Self {
        self.enablement = Some(rows.into());
        #[cfg(feature = "host")]
        {
            // The stored rows of an instance no longer apply.
            self.instance = None;
        }
        self
    }

    /// Sets whether tools of the category `memory` are enabled; defaults to `true`.
    pub fn memory(mut self, on: bool) -> Self {
        self.memory = on;
        self
    }

    /// Sets whether tools of the category `knowledge` are enabled; defaults to `true`.
    pub fn knowledge(mut self, on: bool) -> Self {
        self.knowledge = on;
        self
    }

    /// Enables the tool only while this flag is `true`, `1` or `yes`. Letter case and surrounding white space are ignored. If the flag name is empty,
    /// the tool is always enabled.
    pub fn optional(mut self, tool: impl Into<String>, flag: impl Into<String>) -> Self {
        self.optional.insert(tool.into(), flag.into());
        self
    }

    /// Sets the value of a flag. A flag without a value is off.
    pub fn flag(mut self, flag: impl Into<String>, value: impl Into<String>) -> Self {
        self.flags.insert(flag.into(), value.into());
        self
    }

    pub(super) fn is_on(&self, flag: &str) -> bool {
        let on = |value: &String| {
            let value = value.trim();
            ["true", "1", "yes"]
                .iter()
                .any(|word| value.eq_ignore_ascii_case(word))
        };
        flag.is_empty() || self.flags.get(flag).is_some_and(on)
    }

    /// Adds names of secrets that are present and not empty; defaults to the secrets of the context.
    pub fn secrets<N: Into<String>>(mut self, present: impl IntoIterator<Item = N>) -> Self {
        let names = present.into_iter().map(Into::into);
        self.secrets.get_or_insert_default().extend(names);
        self
    }

    /// Sets the kind of event that started the turn; defaults to [`Runtime::Chat`].
    pub fn runtime(mut self, runtime: Runtime) -> Self {
        self.runtime = runtime;
        self
    }

    /// Adds a tool that calls another agent. It is not in the registry. If the turn may use it, it replaces a registry tool of the same name.
    pub fn agent_tool(mut self, tool: AgentTool) -> Self {
        self.agents.push(tool);
        self
    }

    /// Sets the length of the chain of agent calls that started this turn; defaults to 0, for a turn that no agent started.
    pub fn depth(mut self, depth: u32) -> Self {
        self.depth = depth;
        self
    }

    /// Sets the depth at which a turn can no longer call agents. The default is 1: an agent that was called by an agent cannot call agents.
    pub fn most_depth(mut self, most: u32) -> Self {
        self.most_depth = most;
        self
    }

    /// Sets the policy. It hides the tools that it denies for all arguments. Calls that it denies only for some arguments, or since the turn began,
    /// are refused when they are made. Its lists for all agents and for this agent apply as well.
    pub fn policy(mut self, policy: &SharedPolicy) -> Self {
        self.policy = Some(PolicyView::new(policy));
        self
    }

    /// Returns the policy that these rules use.
    pub fn shared_policy(&self) -> Option<&SharedPolicy> {
        self.policy.as_ref().map(|view| &view.shared)
    }

    /// Sets the disables of this process. A tool that people have switched off is hidden. A tool that they switch off while a turn runs is refused at
    /// the next dispatch.
    pub fn disables(mut self, disables: &Disables) -> Self {
        self.disables = Some(DisablesView::new(disables));
        self
    }

    /// Sets the kill switches and disables that are stored for all processes of the host.
    #[cfg(feature = "host")]
    pub fn switches(mut self, switches: &Switches) -> Self {
        self.switches = Some(SwitchesView::new(switches));
        self
    }

    /// Returns these rules, and the rules of the parent agents in them, with the present policy, disables and switches. The rows of an
    /// [instance](crate::InstanceRules) are not read again. A toolset hides the tools that were hidden when its rules were built, so a program that
    /// reuses rules for many turns calls this method for each turn.
    ///
    /// ```
    /// use tool_core::{Disables, Registry, Rules, ToolContext, tool};
    ///
    /// /// Returns the time.
    /// #[tool]
    /// fn now() -> u64 {
    ///     7
    /// }
    ///
    /// let registry = Registry::builder().tool::<now>().build()?;
    /// let (disables, cx) = (Disables::default(), ToolContext::anonymous());
    /// disables.disable("now");
    /// let rules = Rules::default().disables(&disables);
    /// disables.enable("now");
    /// assert!(registry.toolset(&cx, &rules).is_empty());
    /// assert_eq!(registry.toolset(&cx, &rules.renewed()).len(), 1);
    /// # Ok::<(), tool_core::RegistryError>(())
    /// ```
    pub fn renewed(&self) -> Self {
        let mut rules = self.clone();
        rules.parent = self
            .parent
            .as_ref()
            .map(|parent| Arc::new(parent.renewed()));
        if let Some(view) = &self.policy {
            rules = rules.policy(&view.shared);
        }
        if let Some(view) = &self.disables {
            rules = rules.disables(&view.shared);
        }
        #[cfg(feature = "host")]
        if let Some(view) = &self.switches {
            rules = rules.switches(&view.shared);
        }
        rules
    }

    /// Sets the stored rows from which these rules were built, so that a running turn applies changes of the rows.
    #[cfg(feature = "host")]
    pub(super) fn instance(mut self, view: InstanceView) -> Self {
        self.instance = Some(view);
        self
    }

    /// Returns whether the lists allow a tool of this name.
    pub fn shows(&self, name: &str) -> bool {
        self.access(name).allowed
    }

    /// Returns the result of checking a name against the lists, and the step that decided it: the lists for all agents, the agent's allow list, the
    /// deny lists of the agent and its parent agents, or the other lists that apply to the parent agents.
    pub fn access(&self, name: &str) -> Access {
        self.access_for(self.agent.as_deref(), name)
    }

    pub(super) fn access_for(&self, agent: Option<&str>, name: &str) -> Access {
        let refused = |step| Access {
            allowed: false,
            step,
        };
        let policy = self.policy.as_ref().map(|view| &view.state.policy);
        let global = policy.map(|policy| policy.global_lists());
        let of_agent = policy.and_then(|policy| policy.agent_lists(agent));
        if global.is_some_and(|lists| lists.leaves_out(name) || lists.deny.contains(name)) {
            return refused(Step::Global);
        }
        let own = || [Some(&self.lists), of_agent].into_iter().flatten();
        if own().any(|lists| lists.leaves_out(name)) {
            return refused(Step::Allow);
        }
        if own().any(|lists| lists.deny.contains(name)) || self.is_denied_above(name) {
            return refused(Step::Deny);
        }
        if let Some(parent) = &self.parent {
            let allowed = parent
                .access_for(parent.agent.as_deref().or(agent), name)
                .allowed;
            return Access {
                allowed,
                step: Step::Spawn,
            };
        }
        let step = if own().any(|lists| !lists.allow.is_empty()) {
            Step::Allow
        } else {
            Step::Global
        };
        Access {
            allowed: true,
            step,
        }
    }

    fn is_denied_above(&self, name: &str) -> bool {
        self.parent
            .as_ref()
            .is_some_and(|parent| parent.lists.deny.contains(name) || parent.is_denied_above(name))
    }

    /// Returns the tenant, user and agent of the turn.
    pub(super) fn subject<'a>(&'a self, cx: &'a ToolContext) -> Subject<'a> {
        Subject {
            tenant: cx.tenant(),
            principal: cx.principal(),
            agent: self.agent.as_deref().or_else(|| cx.agent()),
        }
    }

    /// Returns the rules that can still hide tools while the turn runs, the parent's rules first.
    pub(crate) fn live(&self, cx: &ToolContext) -> Vec<Live> {
        let mut all = self
            .parent
            .as_ref()
            .map_or_else(Vec::new, |parent| parent.live(cx));
        #[cfg(feature = "host")]
        let is_switched = self.switches.is_some() || self.instance.is_some();
        #[cfg(not(feature = "host"))]
        let is_switched = false;
        if self.policy.is_some() || self.disables.is_some() || is_switched {
            let subject = self.subject(cx);
            all.push(Live::new(
                self.policy.clone(),
                self.disables.clone(),
                #[cfg(feature = "host")]
                self.switches.clone(),
                #[cfg(feature = "host")]
                self.instance.clone(),
                &subject,
            ));
        }
        all
    }
}

/// The tenant, user and agent of a turn.
pub(super) struct Subject<'a> {
    pub(super) tenant: &'a str,
    pub(super) principal: &'a str,
    pub(super) agent: Option<&'a str>,
}
