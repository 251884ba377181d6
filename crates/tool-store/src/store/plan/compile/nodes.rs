//! Checks of the nodes of a draft.

use std::collections::BTreeSet;

use super::{Check, POINTER, PlanExecutor, PlanNode, PlanNodeKind, is_pointer};

/// Maximum length of the id of a node, in bytes.
const MOST_ID: usize = 64;

impl Check<'_> {
    pub(super) fn nodes(&mut self) {
        let draft = self.draft;
        let mut ids = BTreeSet::new();
        for (at, node) in draft.nodes.iter().enumerate() {
            let id = &node.id;
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_".contains(&byte);
            if id.is_empty() || id.len() > MOST_ID || !id.bytes().all(is_plain) {
                let message = format!(
                    "the id must consist of 1 to {MOST_ID} ASCII letters, digits, `.`, `-` and `_`: write for example `review`"
                );
                self.block(format!("/nodes/{at}/id"), message);
            } else if !ids.insert(id) {
                self.block(
                    format!("/nodes/{at}/id"),
                    format!("the id `{id}` is used twice: give each node its own id"),
                );
            }
            match node.kind {
                PlanNodeKind::Task => self.task(at, node),
                _ => self.structural(at, node),
            }
            match node.kind {
                PlanNodeKind::Task => {}
                PlanNodeKind::Switch => self.switch(at, node),
                PlanNodeKind::Join => self.join(at),
                PlanNodeKind::DeliberationFork => self.fork(at),
            }
        }
    }

    fn task(&mut self, at: usize, node: &PlanNode) {
        match &node.owner {
            None => self.block(
                format!("/nodes/{at}/owner"),
                "a task needs an owner: write its executor (`agent`, `plugin`, `user` or `system`) and its name",
            ),
            Some(owner) if !self.rules.knows(owner) => {
                let known: Vec<String> = self.rules.owners.iter().flatten().map(|owner| format!("`{owner}`")).collect();
                let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
                let message = format!("the owner `{owner}` does not exist; the owners are {known}");
                self.block(format!("/nodes/{at}/owner"), message);
            }
            Some(owner) if owner.executor == PlanExecutor::Plugin && owner.name.is_none() => {
                self.block(format!("/nodes/{at}/owner/name"), "the owner `plugin` needs a name: write the name of the plugin");
            }
            Some(_) => {}
        }
        if node.objective.trim().is_empty() {
            self.block(
                format!("/nodes/{at}/objective"),
                "the text is empty: write what the node achieves",
            );
        }
        if let Some(id) = &node.output_schema_ref
            && !self.draft.schemas.iter().any(|schema| schema.id == *id)
        {
            let message = format!(
                "there is no schema `{id}`: add it to `schemas`, or use the id of a schema of this plan"
            );
            self.block(format!("/nodes/{at}/output_schema_ref"), message);
        }
        let mut names = BTreeSet::new();
        for (number, deliverable) in node.deliverables.iter().enumerate() {
            let name = &deliverable.name;
            if name.is_empty() || !names.insert(name) {
                let message = format!(
                    "the name `{name}` is empty or used twice: give each deliverable of the node its own name"
                );
                self.block(format!("/nodes/{at}/deliverables/{number}/name"), message);
            }
        }
        for (number, check) in node.completion_checks.iter().enumerate() {
            if !is_pointer(&check.pointer) {
                self.block(
                    format!("/nodes/{at}/completion_checks/{number}/pointer"),
                    POINTER,
                );
            }
        }
        let is_open = node.success_criteria.is_empty()
            && node.completion_checks.is_empty()
            && node.output_schema_ref.is_none()
            && !node
                .deliverables
                .iter()
                .any(|deliverable| deliverable.required);
        if is_open {
            self.warn(
                format!("/nodes/{at}/success_criteria"),
                "nothing says when the work is done: add a success criterion, a schema, a deliverable or a check",
            );
        }
    }

    /// Checks that a structural node has no owner and no output of its own.
    fn structural(&mut self, at: usize, node: &PlanNode) {
        let kind = node.kind;
        for (field, is_set) in [
            ("owner", node.owner.is_some()),
            ("output_schema_ref", node.output_schema_ref.is_some()),
            ("deliverables", !node.deliverables.is_empty()),
            ("completion_checks", !node.completion_checks.is_empty()),
        ] {
            if is_set {
                let message = format!(
                    "a node of the type `{kind}` does no work of its own: leave `{field}` out, or change the type to `task`"
                );
                self.block(format!("/nodes/{at}/{field}"), message);
            }
        }
    }

    fn switch(&mut self, at: usize, node: &PlanNode) {
        let before = &self.graph.before[at];
        if before.len() != 1 {
            let message = format!(
                "a switch reads the output of one node, and {} edges lead to it: add a join before it, or a task",
                before.len()
            );
            self.block(format!("/nodes/{at}"), message);
            return;
        }
        let source = &self.draft.nodes[before[0]];
        if source.kind == PlanNodeKind::Task && source.output_schema_ref.is_none() {
            let message = format!(
                "the switch reads the output of `{}`, which has no schema: set its `output_schema_ref`",
                source.id
            );
            self.warn(format!("/nodes/{at}"), message);
        }
        let edges = self.draft.edges.iter().filter(|edge| edge.from == node.id);
        let (mut all, mut without) = (0, 0);
        for edge in edges {
            all += 1;
            without += usize::from(edge.when.is_none());
        }
        if all == 0 {
            self.block(
                format!("/nodes/{at}"),
                "no edge leads from the switch: add an edge for each choice",
            );
        } else if without > 1 {
            self.block(format!("/nodes/{at}"), "more than one edge of the switch has no condition: set `when` for all edges except one");
        } else if without == 0 {
            self.warn(
                format!("/nodes/{at}"),
                "every edge of the switch has a condition, so the plan is blocked if none is met: add an edge without `when`",
            );
        }
    }

    fn join(&mut self, at: usize) {
        let before = self.graph.before[at].len();
        if before < 2 {
            let message = format!(
                "a join waits for several nodes, and {before} edges lead to it: add edges, or remove the join"
            );
            self.warn(format!("/nodes/{at}"), message);
        }
    }

    fn fork(&mut self, at: usize) {
        let after = &self.graph.after[at];
        if after.len() < 2 {
            let message = format!(
                "a fork begins several branches, and {} edges lead from it: add edges, or remove the fork",
                after.len()
            );
            self.block(format!("/nodes/{at}"), message);
            return;
        }
        let mut branches = after.iter().map(|next| self.graph.reached([*next]));
        let first = branches.next().unwrap_or_default();
        let mut common = branches
            .fold(first, |common, branch| &common & &branch)
            .into_iter();
        if !common.any(|node| self.draft.nodes[node].kind == PlanNodeKind::Join) {
            self.warn(
                format!("/nodes/{at}"),
                "the branches of the fork do not meet: add a join after them, so that their results are compared",
            );
        }
    }
}
