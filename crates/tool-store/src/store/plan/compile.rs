//! Compilation of drafts: the checks, and the compiled plan.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::words;

use super::draft::{PlanDraft, PlanExecutor, PlanNode, PlanNodeKind, PlanOwner};
use super::state::PlanNodeStatus;

mod nodes;

/// The severity of a fault: whether the draft is still compiled, or the result is still accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanSeverity {
    /// The draft is not compiled, or the result is not accepted.
    Blocking,
    /// The plan works, but probably not as intended.
    Warning,
}

words!(PlanSeverity { Blocking = "blocking", Warning = "warning", });

/// A fault of a draft or of the result of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanIssue {
    /// Whether the fault is blocking or a warning.
    pub severity: PlanSeverity,
    /// The JSON Pointer (RFC 6901) of the fault in the draft or in the result, such as `/nodes/2/owner`.
    pub pointer: String,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl PlanIssue {
    /// Creates a blocking issue.
    pub fn blocking(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: PlanSeverity::Blocking,
            pointer: pointer.into(),
            message: message.into(),
        }
    }

    /// Creates an issue that is only a warning.
    pub fn warning(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity: PlanSeverity::Warning,
            ..Self::blocking(pointer, message)
        }
    }
}

/// The owners and the limits that a host allows in plans.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanRules {
    /// The owners that exist; `None` accepts every owner. An owner without a name allows every name of its executor.
    pub owners: Option<Vec<PlanOwner>>,
    /// The maximum number of nodes; 100 by default.
    pub most_nodes: usize,
    /// The maximum number of edges; 400 by default.
    pub most_edges: usize,
    /// The number of attempts with a faulty result after which a node fails; 3 by default. 0 has the effect of 1.
    pub most_attempts: u32,
    /// Whether the nodes of a plan begin only after a person has approved the plan; false by default.
    pub approval: bool,
}

impl Default for PlanRules {
    fn default() -> Self {
        Self {
            owners: None,
            most_nodes: 100,
            most_edges: 400,
            most_attempts: 3,
            approval: false,
        }
    }
}

impl PlanRules {
    /// Sets the owners that exist.
    #[must_use]
    pub fn owners(mut self, owners: impl IntoIterator<Item = PlanOwner>) -> Self {
        self.owners = Some(owners.into_iter().collect());
        self
    }

    fn knows(&self, owner: &PlanOwner) -> bool {
        let Some(owners) = &self.owners else {
            return true;
        };
        owners.iter().any(|known| match (&known.name, &owner.name) {
            (Some(known_name), Some(name)) => {
                known.executor == owner.executor && known_name == name
            }
            // An owner without a name is known if there is an executor of its type.
            _ => known.executor == owner.executor,
        })
    }
}

/// A compiled plan: a directed acyclic graph whose nodes, edges, owners and schemas were checked. It never changes; a new plan replaces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSpec {
    draft: PlanDraft,
    /// The positions of the nodes in an order in which each node follows all nodes that have an edge to it.
    order: Vec<usize>,
    warnings: Vec<PlanIssue>,
    most_attempts: u32,
    approval: bool,
}

impl PlanSpec {
    /// Compiles a draft. `check_schema` checks that a value is a JSON Schema with which results can be validated; this crate has no validator. Fails
    /// with all issues, warnings included, if one of them is blocking. A draft with too many nodes or edges is not checked further.
    ///
    /// ```
    /// use tool_store::{PlanDraft, PlanRules, PlanSpec};
    /// let draft: PlanDraft = serde_json::from_value(serde_json::json!({
    ///     "title": "Release", "objective": "Publish version 2",
    ///     "nodes": [
    ///         {"id": "test", "owner": {"executor": "agent"}, "objective": "Run the tests", "success_criteria": ["all tests pass"]},
    ///         {"id": "publish", "owner": {"executor": "user"}, "objective": "Publish", "success_criteria": ["it is published"]},
    ///     ],
    ///     "edges": [{"from": "test", "to": "publish"}, {"from": "publish", "to": "test"}],
    ///     "entry_nodes": ["test"],
    /// }))?;
    /// let issues = PlanSpec::compile(draft, &PlanRules::default(), |_| Ok(())).unwrap_err();
    /// assert_eq!(issues[0].pointer, "/entry_nodes/0");
    /// assert!(issues[1].message.starts_with("the nodes `test`, `publish` form a cycle"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn compile(
        draft: PlanDraft,
        rules: &PlanRules,
        check_schema: impl Fn(&Value) -> Result<(), String>,
    ) -> Result<Self, Vec<PlanIssue>> {
        let mut check = Check {
            graph: Graph::of(&draft),
            draft: &draft,
            rules,
            issues: Vec::new(),
        };
        check.texts();
        if draft.nodes.len() > rules.most_nodes || draft.edges.len() > rules.most_edges {
            // For such a large draft, the other checks would take too long.
            return Err(check.issues);
        }
        check.schemas(check_schema);
        check.nodes();
        check.edges();
        check.entries();
        let order = check.order();
        check.reachability();
        let issues = check.issues;
        let blocks = |issue: &PlanIssue| issue.severity == PlanSeverity::Blocking;
        if issues.iter().any(blocks) {
            return Err(issues);
        }
        Ok(Self {
            draft,
            order,
            warnings: issues,
            most_attempts: rules.most_attempts.max(1),
            approval: rules.approval,
        })
    }

    /// Returns the draft from which the plan was compiled.
    pub fn draft(&self) -> &PlanDraft {
        &self.draft
    }

    /// Returns the warnings of the compilation.
    pub fn warnings(&self) -> &[PlanIssue] {
        &self.warnings
    }

    /// Returns the number of attempts with a faulty result after which a node fails.
    pub fn most_attempts(&self) -> u32 {
        self.most_attempts
    }

    /// Returns whether a person must approve the plan before its nodes begin.
    pub fn needs_approval(&self) -> bool {
        self.approval
    }

    /// Returns the positions of the nodes in the draft, in an order in which each node follows all nodes that have an edge to it.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Returns the position and the node with an id.
    pub fn node(&self, id: &str) -> Option<(usize, &PlanNode)> {
        let mut nodes = self.draft.nodes.iter().enumerate();
        nodes.find(|(_, node)| node.id == id)
    }

    /// Returns the JSON Schema of the structured output of a node; `None` if it has none.
    pub fn output_schema(&self, node: &PlanNode) -> Option<&Value> {
        let id = node.output_schema_ref.as_ref()?;
        let schema = self.draft.schemas.iter().find(|schema| schema.id == *id)?;
        Some(&schema.schema)
    }

    /// Returns the statuses in which the nodes of a new run begin.
    pub(super) fn statuses(&self) -> Vec<PlanNodeStatus> {
        vec![PlanNodeStatus::Pending; self.draft.nodes.len()]
    }
}

/// The edges of a draft between known nodes, as positions.
struct Graph {
    places: BTreeMap<String, usize>,
    /// For each node, the nodes to which it has an edge.
    after: Vec<Vec<usize>>,
    /// For each node, the nodes that have an edge to it.
    before: Vec<Vec<usize>>,
}

impl Graph {
    fn of(draft: &PlanDraft) -> Self {
        let mut places = BTreeMap::new();
        for (at, node) in draft.nodes.iter().enumerate() {
            places.entry(node.id.clone()).or_insert(at);
        }
        let mut graph = Self {
            places,
            after: vec![Vec::new(); draft.nodes.len()],
            before: vec![Vec::new(); draft.nodes.len()],
        };
        for edge in &draft.edges {
            if let (Some(from), Some(to)) = (graph.place(&edge.from), graph.place(&edge.to)) {
                graph.after[from].push(to);
                graph.before[to].push(from);
            }
        }
        graph
    }

    fn place(&self, id: &str) -> Option<usize> {
        self.places.get(id).copied()
    }

    /// Returns the nodes `from`, and all nodes that can be reached from them.
    fn reached(&self, from: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<usize> = from.into_iter().collect();
        while let Some(at) = open.pop() {
            if reached.insert(at) {
                open.extend(&self.after[at]);
            }
        }
        reached
    }
}

struct Check<'d> {
    draft: &'d PlanDraft,
    rules: &'d PlanRules,
    graph: Graph,
    issues: Vec<PlanIssue>,
}

impl Check<'_> {
    fn block(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.issues.push(PlanIssue::blocking(pointer, message));
    }

    fn warn(&mut self, pointer: impl Into<String>, message: impl Into<String>) {
        self.issues.push(PlanIssue::warning(pointer, message));
    }

    fn texts(&mut self) {
        let (draft, rules) = (self.draft, self.rules);
        for (pointer, text) in [("/title", &draft.title), ("/objective", &draft.objective)] {
            if text.trim().is_empty() {
                self.block(pointer, "the text is empty: write a short sentence");
            }
        }
        if draft.nodes.is_empty() {
            self.block("/nodes", "the plan has no nodes: add at least one");
        }
        for (pointer, found, most) in [
            ("/nodes", draft.nodes.len(), rules.most_nodes),
            ("/edges", draft.edges.len(), rules.most_edges),
        ] {
            if found > most {
                let message = format!(
                    "there are {found}, and at most {most} are allowed: combine some, or split the plan"
                );
                self.block(pointer, message);
            }
        }
    }

    fn schemas(&mut self, check_schema: impl Fn(&Value) -> Result<(), String>) {
        let draft = self.draft;
        let used: BTreeSet<&str> = draft
            .nodes
            .iter()
            .filter_map(|node| node.output_schema_ref.as_deref())
            .collect();
        let mut ids = BTreeSet::new();
        for (at, schema) in draft.schemas.iter().enumerate() {
            let id = schema.id.as_str();
            if id.is_empty() || !ids.insert(id) {
                let message =
                    format!("the id `{id}` is empty or used twice: give each schema its own id");
                self.block(format!("/schemas/{at}/id"), message);
            }
            if let Err(why) = check_schema(&schema.schema) {
                let message = format!("this is not a JSON Schema that can be used: {why}");
                self.block(format!("/schemas/{at}/schema"), message);
            }
            if !used.contains(id) {
                let message = format!(
                    "no node refers to the schema `{id}`: remove it, or set `output_schema_ref`"
                );
                self.warn(format!("/schemas/{at}"), message);
            }
        }
    }

    fn edges(&mut self) {
        let draft = self.draft;
        let mut seen = BTreeSet::new();
        for (at, edge) in draft.edges.iter().enumerate() {
            for (end, id) in [("from", &edge.from), ("to", &edge.to)] {
                if self.graph.place(id).is_none() {
                    let message =
                        format!("there is no node `{id}`: use the id of a node of this plan");
                    self.block(format!("/edges/{at}/{end}"), message);
                }
            }
            if !seen.insert((&edge.from, &edge.to)) {
                let message = format!(
                    "the edge from `{}` to `{}` is written twice: remove one",
                    edge.from, edge.to
                );
                self.block(format!("/edges/{at}"), message);
            }
            let Some(condition) = &edge.when else {
                continue;
            };
            let from = self.graph.place(&edge.from).map(|from| &draft.nodes[from]);
            if from.is_some_and(|from| from.kind != PlanNodeKind::Switch) {
                let message = format!(
                    "only an edge from a switch has a condition, and `{}` is not a switch",
                    edge.from
                );
                self.block(format!("/edges/{at}/when"), message);
            }
            if !is_pointer(&condition.pointer) {
                self.block(format!("/edges/{at}/when/pointer"), POINTER);
            }
        }
    }

    fn entries(&mut self) {
        let draft = self.draft;
        if draft.entry_nodes.is_empty() {
            self.block(
                "/entry_nodes",
                "no node begins: name the nodes without an edge to them",
            );
        }
        let mut seen = BTreeSet::new();
        for (at, id) in draft.entry_nodes.iter().enumerate() {
            let pointer = format!("/entry_nodes/{at}");
            match self.graph.place(id) {
                None => self.block(
                    pointer,
                    format!("there is no node `{id}`: use the id of a node of this plan"),
                ),
                Some(_) if !seen.insert(id) => {
                    self.block(
                        pointer,
                        format!("the node `{id}` is written twice: remove one"),
                    );
                }
                Some(place) if !self.graph.before[place].is_empty() => {
                    let message = format!(
                        "an edge leads to `{id}`, so it does not begin: name a node without an edge to it, or remove the edge"
                    );
                    self.block(pointer, message);
                }
                Some(_) => {}
            }
        }
    }

    /// Returns the nodes in an order in which each node follows all nodes that have an edge to it, and reports the cycles.
    fn order(&mut self) -> Vec<usize> {
        let graph = &self.graph;
        let mut missing: Vec<usize> = graph.before.iter().map(Vec::len).collect();
        let free = missing.iter().enumerate().filter(|(_, left)| **left == 0);
        let mut open: VecDeque<usize> = free.map(|(at, _)| at).collect();
        let mut order = Vec::with_capacity(missing.len());
        while let Some(at) = open.pop_front() {
            order.push(at);
            for next in &graph.after[at] {
                missing[*next] -= 1;
                if missing[*next] == 0 {
                    open.push_back(*next);
                }
            }
        }
        // A node that is left is in a cycle, or after one. Only the nodes that reach themselves are in a cycle.
        let left = (0..missing.len()).filter(|at| missing[*at] > 0);
        let mut left: BTreeSet<usize> = left
            .filter(|at| graph.reached(graph.after[*at].iter().copied()).contains(at))
            .collect();
        let mut found = Vec::new();
        while let Some(first) = left.pop_first() {
            let ahead = graph.reached([first]);
            let (cycle, others) = left
                .into_iter()
                .partition(|at| ahead.contains(at) && graph.reached([*at]).contains(&first));
            left = others;
            let cycle: BTreeSet<usize> = cycle;
            found.push((first, cycle));
        }
        for (first, rest) in found {
            let ids = std::iter::once(first).chain(rest.iter().copied());
            let ids: Vec<_> = ids
                .map(|at| format!("`{}`", self.draft.nodes[at].id))
                .collect();
            let inside = |id: &str| {
                let place = self.graph.place(id);
                place.is_some_and(|at| at == first || rest.contains(&at))
            };
            let edges = self.draft.edges.iter();
            let back = edges
                .rev()
                .position(|edge| inside(&edge.from) && inside(&edge.to));
            let at = back.map_or(0, |back| self.draft.edges.len() - 1 - back);
            let ids = ids.join(", ");
            self.block(
                format!("/edges/{at}"),
                format!("the nodes {ids} form a cycle: remove an edge between them"),
            );
        }
        order
    }

    fn reachability(&mut self) {
        let entries = self.draft.entry_nodes.iter();
        let entries: Vec<usize> = entries.filter_map(|id| self.graph.place(id)).collect();
        let reached = self.graph.reached(entries);
        for (at, node) in self.draft.nodes.iter().enumerate() {
            if !reached.contains(&at) {
                let message = format!(
                    "no entry node leads to `{}`: add an edge to it, or add it to `entry_nodes`",
                    node.id
                );
                self.block(format!("/nodes/{at}"), message);
            } else if self.graph.before[at].is_empty() && !self.draft.entry_nodes.contains(&node.id)
            {
                let message = format!("no edge leads to `{}`: add it to `entry_nodes`", node.id);
                self.block(format!("/nodes/{at}"), message);
            }
        }
    }
}

const POINTER: &str = "this is not a JSON Pointer: write for example `/verdict`, or an empty text for the whole output";

/// Returns whether a text is a JSON Pointer.
fn is_pointer(text: &str) -> bool {
    let escapes_are_known = text
        .split('~')
        .skip(1)
        .all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && escapes_are_known
}
