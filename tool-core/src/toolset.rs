//! The tools of one turn, and the dispatch of calls to them.

#[cfg(feature = "host")]
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use tool_schema::__private0::{Spec, is_request, toolset_faults};

use crate::args::Repair;
#[cfg(feature = "host")]
use crate::call::ToolCall;
use crate::context::{Standing, ToolContext};
use crate::error::{ErrorKind, ToolError, renamed_tool, unknown_tool};
#[cfg(feature = "host")]
use crate::gate::Gate;
use crate::policy::{Decision, PolicyRequest};
use crate::registry::{Registry, ToolIndex, join};
use crate::schema::dialect::{Dialect, Dialects};
use crate::schema::rules::Fault;
#[cfg(feature = "host")]
use crate::search::CALL_TOOL;
use crate::search::ToolSearch;
use crate::tool::{Tool, ToolDef};
use crate::visibility::{Layer, Rules, View};

#[cfg(feature = "host")]
mod approvals;
mod asks;
mod combine;
mod delta;
mod explain;
mod search_tools;
mod searched;
mod switches;

pub use combine::{ListedTool, ToolsetError};
pub use delta::ToolsetDelta;
pub use explain::Available;
pub(crate) use search_tools::open;

/// The tools of one turn: the tools of a [`Registry`](crate::Registry) that the turn's rules allow, in a fixed order.
///
/// A toolset can be changed before a model sees it ([`filter`](Toolset::filter), [`prefix`](Toolset::prefix), [`rename`](Toolset::rename),
/// [`prepare`](Toolset::prepare), [`combine`](Toolset::combine), [`with_agent_tools`](Toolset::with_agent_tools)). Rules, policies and audit rows use each
/// tool's own name, regardless of the name that the model sees.
#[derive(Clone)]
#[doc(alias("toolkit", "toolbox", "tools"))]
pub struct Toolset {
    shelf: Arc<ToolIndex>,
    /// The hidden tools, and the tools that are not in the registry; `None` if the turn has neither.
    view: Option<Arc<View>>,
    repair: Repair,
    label: Option<Arc<str>>,
    overridden: Arc<[Overridden]>,
    /// If set, the model sees some tools only after it has searched for them.
    search: Option<Arc<ToolSearch>>,
    /// Names that are not tools, each with the error text for its calls.
    hints: Arc<[(String, String)]>,
    #[cfg(feature = "host")]
    gate: Option<Gate>,
    /// The agent that makes the calls of a turn; `None` for the agent of the context.
    #[cfg(feature = "host")]
    agent: Option<Arc<str>>,
}

impl Toolset {
    pub(crate) fn open(shelf: Arc<ToolIndex>) -> Self {
        Self {
            shelf,
            view: None,
            repair: Repair::default(),
            label: None,
            overridden: Arc::default(),
            search: None,
            hints: Arc::default(),
            #[cfg(feature = "host")]
            gate: None,
            #[cfg(feature = "host")]
            agent: None,
        }
    }

    /// Creates a toolset of tools whose names are known to differ.
    pub(crate) fn of(tools: Vec<ToolDef>) -> Self {
        Self::open(Arc::new(ToolIndex::of(tools)))
    }

    pub(crate) fn ruled(shelf: Arc<ToolIndex>, cx: &ToolContext, rules: &Rules) -> Self {
        let view = Arc::new(rules.view(&shelf, cx));
        let overridden = overridden(&view, &shelf);
        Self {
            view: Some(view),
            overridden,
            ..Self::open(shelf)
        }
    }

    /// Sets how arguments that do not match the schema are repaired. The default is [`Repair::Safe`].
    #[must_use]
    pub fn repair(mut self, mode: Repair) -> Self {
        self.repair = mode;
        self
    }

    /// Sets the text of the error for a call of `name`, for a name that models call although the toolset has no such tool. Without it, the error names
    /// similar tools. If the toolset has a tool of this name, the text is not used.
    ///
    /// ```
    /// use tool_core::prelude::*;
    /// # /// Searches.
    /// # #[tool]
    /// # fn search() -> i32 { 1 }
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let tools = toolset![search].hint("browse", "the web cannot be browsed here, call `search`");
    /// let result = tools.call(ToolCall::new("c-1", "browse", "{}"), &ToolContext::anonymous()).await;
    /// assert_eq!(result.model_text(), "the web cannot be browsed here, call `search`");
    /// # }
    /// ```
    #[must_use]
    pub fn hint(mut self, name: impl Into<String>, text: impl Into<String>) -> Self {
        let hint = (name.into(), text.into());
        self.hints = self.hints.iter().cloned().chain([hint]).collect();
        self
    }

    /// Sets the host's gate, which every call passes.
    #[cfg(feature = "host")]
    #[must_use]
    pub fn through(mut self, gate: &Gate) -> Self {
        self.gate = Some(gate.clone());
        self
    }

    /// Sets the agent that makes the calls of a message in [`Turns`](crate::turn::Turns), in place of the agent of the context. The agent of a
    /// conversation may change during a run, and the context of the run stays the same.
    #[cfg(feature = "host")]
    #[must_use]
    pub fn called_by(mut self, agent: &str) -> Self {
        self.agent = Some(agent.into());
        self
    }

    /// Returns the agent that makes the calls, if it is not the agent of the context.
    #[cfg(feature = "host")]
    pub(crate) fn caller(&self) -> Option<&str> {
        self.agent.as_deref()
    }

    /// Returns the gate that every call passes.
    #[cfg(feature = "host")]
    pub fn gate(&self) -> Option<&Gate> {
        self.gate.as_ref()
    }

    pub(crate) fn repair_mode(&self) -> Repair {
        self.repair
    }

    /// Returns the tools, sorted by the names that the model sees.
    pub fn tools(&self) -> impl Iterator<Item = &ToolDef> {
        self.visible().map(|(_, def)| def)
    }

    /// Returns the visible tools with their positions.
    fn visible(&self) -> impl Iterator<Item = (usize, &ToolDef)> {
        let own = self
            .shelf
            .tools
            .iter()
            .enumerate()
            .filter(|(at, _)| self.shows(*at));
        let after = self.shelf.tools.len();
        let agents = self.agents().iter().enumerate();
        let agents = agents
            .map(move |(at, def)| (after + at, def))
            .filter(|(at, _)| self.shows(*at));
        let (mut own, mut agents) = (own.peekable(), agents.peekable());
        std::iter::from_fn(move || match (own.peek(), agents.peek()) {
            (Some((_, first)), Some((_, second))) if second.wire_name() < first.wire_name() => {
                agents.next()
            }
            (None, _) => agents.next(),
            _ => own.next(),
        })
    }

    /// Returns the tools that are not in the registry: tools that call other agents, and the two tools of a search.
    fn agents(&self) -> &[ToolDef] {
        let agents = self.view.as_ref().and_then(|view| view.agents.as_ref());
        agents.map_or(&[], |agents| &agents.tools)
    }

    /// Returns the names that the model sees, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools().map(ToolDef::wire_name)
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.tools().count()
    }

    /// Returns whether the toolset has no tools.
    pub fn is_empty(&self) -> bool {
        self.tools().next().is_none()
    }

    /// Returns the tool that the model sees under this name, if the turn may use it.
    pub fn get(&self, name: &str) -> Option<&ToolDef> {
        self.find(name).map(|(_, def)| def)
    }

    /// Returns the tool with this name and its position, if the turn may use it now.
    pub(crate) fn find(&self, name: &str) -> Option<(usize, &ToolDef)> {
        self.dispatch(name).ok()
    }

    /// Returns the tool that a call names and its position. The error is the layer that hides the tool, or `None` if the tool does not exist.
    ///
    /// This also checks denials and switches that were added since the turn began.
    pub(crate) fn dispatch(&self, name: &str) -> Result<(usize, &ToolDef), Option<Layer>> {
        let at = self.position(name).ok_or(None)?;
        match self.hidden_now(at) {
            None => Ok((at, self.def(at))),
            hidden => Err(hidden),
        }
    }

    /// Returns the tool for typed arguments, regardless of the name that the toolset gives it. The error is the layer that hides the tool, if it is known.
    pub(crate) fn find_typed<T: Tool>(&self) -> Result<(usize, &ToolDef), Option<Layer>> {
        // A different tool of this name would take different arguments.
        let is_it = |def: &ToolDef| def.origin() == T::DEF.origin();
        self.find(T::NAME)
            .filter(|(_, def)| is_it(def))
            .or_else(|| {
                self.visible()
                    .find(|(at, def)| is_it(def) && self.hidden_now(*at).is_none())
            })
            .ok_or_else(|| {
                let hidden = self.visible().find(|(_, def)| is_it(def));
                hidden.and_then(|(at, _)| self.hidden_now(at))
            })
    }

    /// Returns the tool that a person approved: the tool with this own name and this contract, regardless of the name that the toolset gives it. If no tool
    /// has both, returns a tool with this own name and a different contract. Callable tools have priority.
    ///
    /// If no tool has this name, the tools with this alias are searched. The contract of such a tool is the same if only its name has changed.
    #[cfg(feature = "host")]
    pub(crate) fn find_approved(&self, name: &str, contract: &str) -> Option<Approved<'_>> {
        let all = self.shelf.tools.iter().chain(self.agents()).enumerate();
        let named = all.filter(|(_, def)| def.is_named(name));
        named
            .map(|(at, def)| {
                let same = *def.contract_under(name) == *contract;
                let callable = self
                    .find(def.wire_name())
                    .is_some_and(|(found, _)| found == at);
                (def.name() == name, same, callable, def)
            })
            .max_by_key(|(is_own, same, callable, _)| (*is_own, *same, *callable))
            .map(|(_, same, _, def)| {
                if same {
                    Approved::Same(def)
                } else {
                    Approved::Changed(def)
                }
            })
    }

    /// Returns the position of a name. A visible tool of [`agents`](Self::agents) has priority over a tool of the registry.
    fn position(&self, name: &str) -> Option<usize> {
        let own = self.shelf.position(name);
        let Some(agents) = self.view.as_ref().and_then(|view| view.agents.as_ref()) else {
            return own;
        };
        let agents = agents.position(name).map(|at| self.shelf.tools.len() + at);
        agents.filter(|at| self.shows(*at)).or(own).or(agents)
    }

    /// Returns the position of the tool that has this alias, if no tool has this name now.
    fn aliased(&self, alias: &str) -> Option<usize> {
        if self.position(alias).is_some() {
            return None;
        }
        let agents = self.view.as_ref().and_then(|view| view.agents.as_ref());
        let own = self.shelf.aliased(alias);
        own.or_else(|| Some(self.shelf.tools.len() + agents?.aliased(alias)?))
    }

    /// Returns a call that a thread has stored, with the present name of its tool. A call that a model makes now is not changed, so that its old name
    /// is refused.
    #[cfg(feature = "host")]
    pub(crate) fn continued<'c>(&self, call: &'c ToolCall) -> Cow<'c, ToolCall> {
        let renamed = if self.search.is_some() && call.name == CALL_TOOL {
            search_tools::continued(self, &call.arguments).map(|arguments| ToolCall {
                arguments,
                ..call.clone()
            })
        } else {
            self.present_name(&call.name).map(|name| ToolCall {
                name: name.to_owned(),
                ..call.clone()
            })
        };
        renamed.map_or(Cow::Borrowed(call), Cow::Owned)
    }

    /// Returns the name by which the model sees the tool that it knew by an earlier name. A call of a hidden tool is refused like a call of a tool that was
    /// removed, with the name that the model wrote.
    #[cfg(feature = "host")]
    fn present_name(&self, alias: &str) -> Option<&str> {
        let at = self.aliased(alias)?;
        let is_known = matches!(self.hidden_now(at), None | Some(Layer::Unread));
        is_known.then(|| self.def(at).wire_name())
    }

    fn def(&self, at: usize) -> &ToolDef {
        let own = self.shelf.tools.len();
        if at < own {
            &self.shelf.tools[at]
        } else {
            &self.agents()[at - own]
        }
    }

    pub(crate) fn shelf(&self) -> &ToolIndex {
        &self.shelf
    }

    fn shows(&self, at: usize) -> bool {
        self.layer(at).is_none()
    }

    /// Returns the layer that hid a tool when the turn began.
    fn layer(&self, at: usize) -> Option<Layer> {
        let view = self.view.as_ref()?;
        Layer::from_code(*view.codes.get(at)?)
    }

    /// Returns the layer that hides a tool now.
    pub(crate) fn hidden_now(&self, at: usize) -> Option<Layer> {
        self.view.as_ref()?.hides(at, self.def(at))
    }

    /// Returns the rules that can still forbid a call of the tool at a position; `None` if the turn has no rules.
    pub(crate) fn standing(&self, at: usize) -> Option<Standing> {
        Some(self.view.as_ref()?.standing(at))
    }

    /// Returns the policy's decision about a call of the tool at a position; `None` if the rules have no policy. The rules that can apply to the tool are
    /// precomputed.
    pub(crate) fn judge<'r>(
        &self,
        at: usize,
        request: impl FnOnce() -> PolicyRequest<'r>,
    ) -> Option<Decision> {
        let view = self.view.as_ref()?;
        view.judge(at, &request())
    }

    /// Returns the tools whose names were taken by the agent's own tools.
    pub fn overridden(&self) -> &[Overridden] {
        &self.overridden
    }

    /// Returns the JSON array of definitions for a provider's request. It contains the [offered](Toolset::offered) tools except those that
    /// [`left_out`](Toolset::left_out) lists.
    pub fn definitions(&self, dialect: Dialect) -> String {
        if self.view.is_none() {
            self.shelf.listing(dialect)
        } else {
            join(|| self.offered(), dialect)
        }
    }

    /// Returns the names of the tools that are not offered to a provider, because their `providers(…)` excludes it, or because it
    /// does not accept the schema of a tool with [`where_accepted`](crate::DynamicTool::where_accepted).
    pub fn left_out(&self, dialect: Dialect) -> impl Iterator<Item = &str> {
        self.offered()
            .filter(move |def| def.definition(dialect).is_empty())
            .map(ToolDef::wire_name)
    }

    /// Returns the faults for which a provider would refuse these tools in one request. The limits are 128 tools; for Anthropic 20 strict tools, 24 optional
    /// parameters and 15 unions. Empty if the tools are within the limits. [`toolset!`](crate::toolset) checks the same limits at compile time.
    pub fn faults(&self) -> Vec<Fault> {
        let specs: Vec<Spec> = self.offered().map(ToolDef::spec).collect();
        toolset_faults(&specs.iter().collect::<Vec<_>>())
    }

    /// Returns the faults for which this provider would refuse these tools in one request. Empty for MCP and plain JSON Schema, whose tool lists are not part
    /// of a request.
    pub fn faults_in(&self, dialect: Dialect) -> Vec<Fault> {
        if !is_request(dialect) {
            return Vec::new();
        }
        let offered = self
            .offered()
            .filter(|def| !def.definition(dialect).is_empty());
        request_faults(offered, dialect)
    }

    /// Returns the error for a call whose tool is hidden by a layer or does not exist. `name` is the redacted name in the call.
    pub(crate) fn uncallable(&self, name: &str, layer: Option<Layer>) -> ToolError {
        if layer == Some(Layer::Unread) {
            // The tool exists, and the call may succeed later.
            let text = "the call was not made, because the host could not check whether it is still allowed; try again later";
            return ToolError::of(ErrorKind::Unavailable, text)
                .operator("the stored switches or enablement rows could not be read for a second: check the store");
        }
        self.unknown(name)
    }

    pub(crate) fn unknown(&self, name: &str) -> ToolError {
        if let Some((_, text)) = self.hints.iter().find(|(hinted, _)| hinted == name) {
            return ToolError::of(ErrorKind::UnknownTool, text.clone());
        }
        if let Some(at) = self
            .aliased(name)
            .filter(|at| self.hidden_now(*at).is_none())
        {
            return renamed_tool(self.def(at).wire_name(), name);
        }
        let now = self
            .visible()
            .filter(|(at, _)| self.hidden_now(*at).is_none());
        unknown_tool(now.map(|(_, def)| def.wire_name()), name)
    }
}

impl Registry {
    /// Returns a toolset of all tools, without rules.
    pub fn open(&self) -> Toolset {
        Toolset::open(Arc::clone(self.shelf()))
    }

    /// Returns the tools that one turn may use.
    pub fn toolset(&self, cx: &ToolContext, rules: &Rules) -> Toolset {
        Toolset::ruled(Arc::clone(self.shelf()), cx, rules)
    }
}

/// Returns the tools of the registry that agent tools of the same name replace.
fn overridden(view: &View, base: &ToolIndex) -> Arc<[Overridden]> {
    let Some(agents) = &view.agents else {
        return Arc::default();
    };
    let lost = base.tools.iter().zip(&view.codes);
    let lost = lost.filter(|(_, code)| **code == Layer::Overridden.code());
    lost.map(|(def, _)| {
        let kept = agents
            .position(def.wire_name())
            .map(|at| agents.tools[at].origin_text());
        Overridden::logged(def, kept.unwrap_or_default())
    })
    .collect()
}

/// Returns the faults for which this provider would refuse these tools in one request.
pub(crate) fn request_faults<'a>(
    tools: impl Iterator<Item = &'a ToolDef>,
    dialect: Dialect,
) -> Vec<Fault> {
    let specs: Vec<Spec> = tools
        .map(|def| Spec {
            providers: Dialects::only(dialect),
            ..def.spec()
        })
        .collect();
    toolset_faults(&specs.iter().collect::<Vec<_>>())
}

/// A tool whose name was taken by one of the agent's own tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overridden {
    /// The name of both tools.
    pub name: String,
    /// The origin of the tool that has the name now.
    pub kept: String,
    /// The origin of the tool that lost the name.
    pub dropped: String,
}

impl fmt::Debug for Toolset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// Builds a toolset of the tools named here. The compiler checks that each provider accepts them in one request.
///
/// ```
/// use tool_core::prelude::*;
///
/// /// Adds two whole numbers.
/// #[tool]
/// fn add(
///     /// The first number.
///     a: i32,
///     /// The second number.
///     b: i32,
/// ) -> i64 {
///     i64::from(a) + i64::from(b)
/// }
///
/// # fn main() {
/// let tools = toolset![add];
/// assert!(tools.names().eq(["add"]));
/// # }
/// ```
#[doc(alias("tools"))]
#[macro_export]
macro_rules! toolset {
    ($($tool:ty),* $(,)?) => {{
        const __TOOLS: &[$crate::__private0::Listed] = &[$(<$tool as $crate::Tool>::LISTED),*];
        const _: () = $crate::__private0::check_listed::<{ __TOOLS.len() }>(__TOOLS);
        $crate::__private0::toolset_of(__TOOLS)
    }};
}

/// The present tool of a call that a person was asked to approve.
#[cfg(feature = "host")]
pub(crate) enum Approved<'t> {
    /// The tool has the contract that the approver saw.
    Same(&'t ToolDef),
    /// The contract of the tool has changed.
    Changed(&'t ToolDef),
}

#[cfg(feature = "host")]
impl<'t> Approved<'t> {
    pub(crate) fn tool(&self) -> &'t ToolDef {
        match self {
            Self::Same(def) | Self::Changed(def) => def,
        }
    }
}
