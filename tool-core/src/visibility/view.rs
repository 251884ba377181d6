//! Computation of the tools that are visible to a turn, layer by layer.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::current::Live;
use super::enablement::{AgentTool, Runtime};
use super::layer::Layer;
use super::rules::{Rules, Subject};
use crate::context::ToolContext;
use crate::policy::Compiled;
use crate::policy::lists::ToolLists;
use crate::policy::{Decision, PolicyRequest, PolicyVerdict};
use crate::registry::ToolIndex;
use crate::tool::ToolDef;

/// Category of the tools that start sub-agents.
pub(super) const SPAWNS: &str = "agent";

/// The visibility of each tool in a turn: the code of the first layer that hides it, or zero if it is visible. The registry's tools come
/// first, then the agent tools.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) codes: Vec<u8>,
    /// The tools of the registry, before the agent tools.
    base: Arc<ToolIndex>,
    /// Keys of required secrets that are missing.
    pub(crate) absent: BTreeSet<String>,
    /// Tools that are not in the registry, sorted by name: tools that call other agents, and the two tools of a search.
    pub(crate) agents: Option<Arc<ToolIndex>>,
    pub(crate) live: Vec<Live>,
    /// For each entry of `live`, its policy's candidate rules for each tool.
    pub(crate) compiled: Box<[OnceLock<Arc<Compiled>>]>,
}

impl View {
    pub(crate) fn new(
        base: &Arc<ToolIndex>,
        codes: Vec<u8>,
        absent: BTreeSet<String>,
        agents: Option<Arc<ToolIndex>>,
        live: Vec<Live>,
    ) -> Self {
        Self {
            base: Arc::clone(base),
            codes,
            absent,
            agents,
            compiled: live.iter().map(|_| OnceLock::new()).collect(),
            live,
        }
    }

    /// Returns the tool at a position.
    pub(crate) fn def(&self, at: usize) -> &ToolDef {
        let own = &self.base.tools;
        match &self.agents {
            Some(agents) if at >= own.len() => &agents.tools[at - own.len()],
            _ => &own[at],
        }
    }

    /// Returns the strictest decision of all policies. If that decision requests an approval, four eyes are required if any policy that requests an
    /// approval requires them.
    pub(crate) fn judge(&self, at: usize, request: &PolicyRequest<'_>) -> Option<Decision> {
        let decisions = self
            .live
            .iter()
            .zip(&self.compiled)
            .filter_map(|(live, compiled)| {
                let view = live.policy.as_ref()?;
                let compiled = compiled.get_or_init(|| self.base.compiled(&view.state.policy));
                Some(view.now().decide(compiled.candidates.get(at), request))
            });
        decisions.reduce(|first, second| {
            let asks = |decision: &Decision| decision.verdict == PolicyVerdict::Ask;
            let four_eyes = asks(&first) && first.four_eyes || asks(&second) && second.four_eyes;
            let strictest = if second.verdict.rank() < first.verdict.rank() {
                second
            } else {
                first
            };
            Decision {
                four_eyes: four_eyes && asks(&strictest),
                ..strictest
            }
        })
    }

    /// Returns the layer that hides a tool now. If nothing has changed since the turn began, this only compares version numbers and times.
    pub(crate) fn hides(&self, at: usize, def: &ToolDef) -> Option<Layer> {
        Layer::from_code(*self.codes.get(at)?)
            .or_else(|| self.live.iter().find_map(|live| live.hides(def)))
    }

    /// Returns a number that changes with every change of the turn's policies, including the kill switches of
    /// [`SharedPolicy`](crate::policy::SharedPolicy).
    pub(crate) fn edition(&self) -> u64 {
        let policies = self.live.iter().filter_map(|live| live.policy.as_ref());
        // Edition numbers never decrease, so the sum changes whenever one of them changes.
        policies.map(|policy| policy.shared.edition()).sum()
    }
}

/// One lookup by name costs about as much as iterating over this many tools.
const WALKED: usize = 8;

/// The first hiding layer of each tool, by position. Layers are numbered in the order of the checks, so the smaller code wins.
struct Marks(Vec<u8>);

impl Marks {
    fn hide(&mut self, at: usize, layer: Layer) {
        let mark = &mut self.0[at];
        if *mark == 0 || *mark > layer.code() {
            *mark = layer.code();
        }
    }
}

/// Looks up the positions of tools by name.
struct Names<'a> {
    shelf: &'a ToolIndex,
    agents: Option<&'a ToolIndex>,
    rows: &'a [AgentTool],
}

impl Names<'_> {
    fn len(&self) -> usize {
        self.shelf.tools.len() + self.agents.map_or(0, |agents| agents.tools.len())
    }

    /// Returns the position of a name or an alias among the registry's tools. A name with a `:` is looked up by its wire name.
    fn own(&self, name: &str) -> Option<usize> {
        let find = |name: &str| {
            self.shelf
                .position(name)
                .or_else(|| self.shelf.aliased(name))
        };
        match name.split_once(':') {
            None => find(name),
            Some((space, name)) => find(&format!("{space}__{name}")),
        }
    }

    /// Calls `found` with the position of each agent tool if `holds` is true for its own name, an alias or its row name.
    fn agents(&self, holds: impl Fn(&str) -> bool, found: impl FnMut(usize)) {
        let after = self.shelf.tools.len();
        let agents = self
            .agents
            .into_iter()
            .flat_map(|agents| agents.tools.iter().enumerate());
        agents
            .filter(|(_, def)| {
                let mut rows = self.rows.iter();
                let row = rows.find(|tool| tool.def.wire_name() == def.wire_name());
                def.names().any(&holds) || row.is_some_and(|tool| holds(&tool.row))
            })
            .map(|(at, _)| after + at)
            .for_each(found);
    }

    /// Calls `found` with the position of every tool that has this name or alias.
    fn each(&self, name: &str, mut found: impl FnMut(usize)) {
        self.own(name).into_iter().for_each(&mut found);
        self.agents(|known| known == name, found);
    }

    /// Calls `found` with the position of every tool whose name or alias is in a set. A large set is merged with the tools' names in one pass,
    /// because both are sorted.
    fn set(&self, names: &BTreeSet<String>, mut found: impl FnMut(usize)) {
        if names.len() * WALKED < self.shelf.tools.len() {
            return self.all(names, found);
        }
        let mut tools = self.shelf.facts().names().enumerate().peekable();
        for name in names {
            // A name with a `:` has a different wire name, so its sort position differs too.
            if name.contains(':') {
                self.own(name).into_iter().for_each(&mut found);
                continue;
            }
            while tools.next_if(|(_, tool)| *tool < name.as_str()).is_some() {}
            if let Some((at, _)) = tools.next_if(|(_, tool)| tool == name) {
                found(at);
            }
        }
        for (alias, at) in &self.shelf.aliases {
            if names.contains(alias) {
                found(*at);
            }
        }
        self.agents(|known| names.contains(known), found);
    }

    fn all(&self, names: impl IntoIterator<Item = impl AsRef<str>>, mut found: impl FnMut(usize)) {
        for name in names {
            self.each(name.as_ref(), &mut found);
        }
    }
}

impl Rules {
    /// Computes the visible tools of a turn.
    pub(crate) fn view(&self, base: &Arc<ToolIndex>, cx: &ToolContext) -> View {
        let agents = (!self.agents.is_empty()).then(|| {
            Arc::new(ToolIndex::of(
                self.agents.iter().map(|tool| tool.def.clone()).collect(),
            ))
        });
        let names = Names {
            shelf: base,
            agents: agents.as_deref(),
            rows: &self.agents,
        };
        let mut absent = BTreeSet::new();
        let mut marks = self.marks(&names, cx, &mut absent);
        // The agent's own tools have priority over tools of the registry.
        if let Some(agents) = &agents {
            for (at, def) in agents.tools.iter().enumerate() {
                if marks.0[base.tools.len() + at] == 0
                    && let Some(other) = base.position(def.wire_name())
                {
                    marks.hide(other, Layer::Overridden);
                }
            }
        }
        View::new(base, marks.0, absent, agents, self.live(cx))
    }

    fn marks(&self, names: &Names<'_>, cx: &ToolContext, absent: &mut BTreeSet<String>) -> Marks {
        let subject = self.subject(cx);
        let mut marks = self.mark_kinds(names, cx, absent);
        if let Some(view) = &self.disables {
            names.set(&view.names, |at| marks.hide(at, Layer::Disabled));
        }
        #[cfg(feature = "host")]
        if let Some(view) = &self.switches {
            let known = &view.known;
            names.all(known.disables(subject.tenant), |at| {
                marks.hide(at, Layer::Disabled);
            });
            names.all(known.kills(subject.tenant), |at| {
                marks.hide(at, Layer::Killed);
            });
        }
        for (tool, flag) in &self.optional {
            if !self.is_on(flag) {
                names.each(tool, |at| marks.hide(at, Layer::Optional));
            }
        }
        self.mark_agents(names, &mut marks);
        self.mark_lists(names, &subject, &mut marks);
        self.mark_policy(names, &subject, &mut marks);
        if let Some(parent) = &self.parent {
            parent.mark_child(names, cx, &mut marks);
        }
        marks
    }

    /// Marks the layers that depend on a tool's kind (harness, category, secrets), and the layer of enablement, which is checked between them.
    fn mark_kinds(
        &self,
        names: &Names<'_>,
        cx: &ToolContext,
        absent: &mut BTreeSet<String>,
    ) -> Marks {
        let facts = names.shelf.facts();
        let present = |key: &str| match &self.secrets {
            Some(present) => present.contains(key),
            None => cx.holds_secret(key),
        };
        let there: Vec<bool> = facts.secrets.iter().map(|key| present(key)).collect();
        absent.extend(
            facts
                .secrets
                .iter()
                .zip(&there)
                .filter(|(_, there)| !**there)
                .map(|(key, _)| key.clone()),
        );
        let kinds = facts.kinds.iter().map(|kind| {
            let category = kind.category.as_str();
            let spawns = category == SPAWNS;
            let later = if category == "memory" && !self.memory {
                Some(Layer::Memory)
            } else if category == "knowledge" && !self.knowledge {
                Some(Layer::Knowledge)
            } else if kind.secrets.iter().any(|secret| !there[*secret]) {
                Some(Layer::Secrets)
            } else {
                (spawns && self.runtime == Runtime::SubAgent).then_some(Layer::SpawnTask)
            };
            let later = later.map_or(0, Layer::code);
            let stranger = kind.harness && !self.runtime.takes_harness(category);
            let first = if stranger {
                Layer::Harness.code()
            } else {
                later
            };
            // This applies to tools without an enablement row: harness tools and the tools that start sub-agents need no row.
            let unlisted = if kind.harness || spawns {
                first
            } else {
                Layer::Enablement.code()
            };
            // This applies to tools with a row that is off.
            let off = if kind.harness {
                first
            } else {
                Layer::Disabled.code()
            };
            [first, unlisted, off]
        });
        let kinds: Vec<[u8; 3]> = kinds.collect();
        let mut marks = vec![0; names.len()];
        let rows = self.enablement.as_deref().filter(|rows| !rows.is_open());
        let start = usize::from(rows.is_some());
        for (mark, kind) in marks.iter_mut().zip(&facts.of) {
            *mark = kinds[*kind as usize][start];
        }
        let after = facts.of.len();
        if let Some(agents) = names.agents {
            for (mark, def) in marks[after..].iter_mut().zip(&agents.tools) {
                let mut missing = def
                    .secrets()
                    .iter()
                    .filter(|need| !need.optional && !present(&need.key))
                    .peekable();
                *mark = if start == 1 {
                    Layer::Enablement.code()
                } else {
                    missing.peek().map_or(0, |_| Layer::Secrets.code())
                };
                absent.extend(missing.map(|need| need.key.clone().into_owned()));
            }
        }
        if let Some(rows) = rows {
            let mut set = |names_of: &BTreeSet<String>, which: usize| {
                names.set(names_of, |at| {
                    marks[at] = match facts.of.get(at) {
                        Some(kind) => kinds[*kind as usize][which],
                        None if which == 2 => Layer::Disabled.code(),
                        None => {
                            let def = names.agents.map(|agents| &agents.tools[at - after]);
                            let lacks = def.is_some_and(|def| {
                                def.secrets()
                                    .iter()
                                    .any(|need| !need.optional && !present(&need.key))
                            });
                            if lacks { Layer::Secrets.code() } else { 0 }
                        }
                    };
                });
            };
            set(&rows.on, 0);
            set(&rows.off, 2);
        }
        Marks(marks)
    }

    fn mark_agents(&self, names: &Names<'_>, marks: &mut Marks) {
        let Some(agents) = names.agents else { return };
        let deep = self.depth >= self.most_depth || self.runtime == Runtime::SubAgent;
        for (at, def) in agents.tools.iter().enumerate() {
            let at = names.shelf.tools.len() + at;
            let tool = names
                .rows
                .iter()
                .find(|tool| tool.def.wire_name() == def.wire_name());
            if tool.is_some_and(|tool| !tool.channel) {
                marks.hide(at, Layer::AgentChannel);
            }
            if deep {
                marks.hide(at, Layer::AgentDepth);
            }
        }
    }

    fn mark_lists(&self, names: &Names<'_>, subject: &Subject<'_>, marks: &mut Marks) {
        if let Some(view) = &self.policy {
            mark_list(
                view.state.policy.global_lists(),
                names,
                marks,
                [Layer::Global; 2],
            );
            if let Some(lists) = view.state.policy.agent_lists(subject.agent) {
                mark_list(lists, names, marks, [Layer::Allow, Layer::Deny]);
            }
        }
        mark_list(&self.lists, names, marks, [Layer::Allow, Layer::Deny]);
    }

    fn mark_policy(&self, names: &Names<'_>, subject: &Subject<'_>, marks: &mut Marks) {
        let Some(view) = &self.policy else { return };
        let policy = &view.state.policy;
        let mut denials = policy
            .flat_denials(subject.tenant, subject.principal, subject.agent)
            .peekable();
        if denials.peek().is_some() {
            let compiled = names.shelf.compiled(policy);
            for rule in denials {
                for at in &compiled.tools[rule] {
                    marks.hide(*at, Layer::Policy);
                }
                let agents = names
                    .agents
                    .into_iter()
                    .flat_map(|agents| agents.tools.iter().enumerate());
                for (at, def) in agents {
                    if policy.rules()[rule].is_about(def) {
                        marks.hide(names.shelf.tools.len() + at, Layer::Policy);
                    }
                }
            }
        }
        names.all(view.state.kills().of(subject.tenant), |at| {
            marks.hide(at, Layer::Killed);
        });
    }

    /// Hides from a child the tools that are hidden from its parent.
    fn mark_child(&self, names: &Names<'_>, cx: &ToolContext, marks: &mut Marks) {
        let own = Names {
            agents: None,
            rows: &[],
            ..*names
        };
        let mut parents = self.marks(&own, cx, &mut BTreeSet::new());
        // A tool that one of the parent's agent tools replaces is hidden from the parent.
        for tool in &self.agents {
            names.each(tool.def.wire_name(), |at| {
                if let Some(mark) = parents.0.get_mut(at) {
                    *mark = Layer::Overridden.code();
                }
            });
        }
        for (at, mark) in parents.0.iter().enumerate() {
            match Layer::from_code(*mark) {
                None => {}
                // A child inherits its parent's denied names.
                Some(Layer::Deny) => marks.hide(at, Layer::Deny),
                Some(_) => marks.hide(at, Layer::Spawn),
            }
        }
    }
}

fn mark_list(lists: &ToolLists, names: &Names<'_>, marks: &mut Marks, [allow, deny]: [Layer; 2]) {
    if !lists.allow.is_empty() {
        let mut listed = vec![false; names.len()];
        names.set(&lists.allow, |at| listed[at] = true);
        for (at, listed) in listed.into_iter().enumerate() {
            if !listed {
                marks.hide(at, allow);
            }
        }
    }
    names.set(&lists.deny, |at| marks.hide(at, deny));
}
