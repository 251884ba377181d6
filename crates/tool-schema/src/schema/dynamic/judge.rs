//! Verdicts on schema texts: whether the strict mode of each provider accepts a text unchanged.
//!
//! This module checks keywords, their values, references and size limits. The module `read` interprets schemas. The evidence for each rule
//! is in `docs/rules.md` under its id.

mod keywords;
mod limits;
mod references;
mod shapes;

use core::fmt::Display;

use tool_rules::Rule;

use super::doc::Doc;
use super::fault::{SchemaFault, Targets, Verdicts};

/// Checks a schema and returns its faults.
pub(super) fn judge(root: &Doc) -> Verdicts {
    let mut judge = Judge {
        faults: Vec::new(),
        pointer: String::new(),
        depth: 0,
    };
    judge.root(root);
    judge.node(root, Place::Root);
    let Judge { mut faults, .. } = judge;
    faults.extend(references::faults(root));
    faults.extend(limits::faults(root));
    Verdicts::new(faults)
}

/// Appends steps to a JSON pointer.
pub(super) fn push_steps(pointer: &mut String, steps: &[&str]) {
    for step in steps {
        pointer.push('/');
        if step.contains(['~', '/']) {
            pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        } else {
            pointer.push_str(step);
        }
    }
}

/// Position of a node in the schema.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Root,
    Property,
    Other,
}

struct Judge {
    faults: Vec<SchemaFault>,
    pointer: String,
    depth: usize,
}

/// Maximum depth of a schema. Deeper nodes are rejected and not visited, because no provider accepts them, and the walk is recursive.
pub(super) const DEEPEST: usize = 64;

impl Judge {
    /// Adds a fault for which all targets of the rule refuse the schema.
    fn fault(&mut self, rule: &Rule, facts: &[&dyn Display]) {
        self.fault_for(rule.targets, rule, facts);
    }

    /// Adds a fault for which these targets refuse the schema.
    fn fault_for(&mut self, targets: Targets, rule: &Rule, facts: &[&dyn Display]) {
        debug_assert_eq!(targets.and(rule.targets), rule.targets, "{rule:?}");
        self.faults
            .push(SchemaFault::new(rule, &self.pointer, targets, facts));
    }

    fn below(&mut self, steps: &[&str], visit: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        push_steps(&mut self.pointer, steps);
        if self.depth < DEEPEST {
            self.depth += 1;
            visit(self);
            self.depth -= 1;
        } else {
            self.fault(&Rule::JSON_TOO_DEEP, &[&DEEPEST]);
        }
        self.pointer.truncate(length);
    }

    /// Checks the rules for the root.
    fn root(&mut self, root: &Doc) {
        if root.get("type").and_then(Doc::as_str) != Some("object") {
            self.fault(&Rule::JSON_ROOT_NOT_OBJECT, &[]);
        }
        for keyword in ["anyOf", "oneOf", "allOf", "enum", "not"] {
            if root.has(keyword) {
                self.fault(&Rule::JSON_ROOT_KEYWORD, &[&keyword]);
            }
        }
    }

    fn node(&mut self, node: &Doc, place: Place) {
        if !matches!(node, Doc::Object(_)) {
            let mut targets = Targets::OPENAI
                .and(Targets::ANTHROPIC)
                .and(Targets::GEMINI_PARAMETERS);
            if place == Place::Property {
                // If the schema of a property is not an object, the MCP TypeScript SDK drops the complete list of tools.
                targets = targets.and(Targets::MCP);
            }
            let rule = match node {
                Doc::Boolean(_) => &Rule::JSON_BOOLEAN,
                _ => &Rule::JSON_NOT_SCHEMA,
            };
            self.fault_for(targets, rule, &[]);
            return;
        }
        self.keywords(node);
        self.types(node);
        self.object(node, place);
        self.array(node);
        self.choices(node);
        self.text(node);
        self.children(node);
    }

    fn children(&mut self, node: &Doc) {
        for (key, value) in node.entries() {
            match key.as_str() {
                "properties" => {
                    for (name, child) in value.entries() {
                        self.below(&[key, name], |judge| judge.node(child, Place::Property));
                    }
                }
                "$defs" | "definitions" | "patternProperties" => {
                    for (name, child) in value.entries() {
                        self.below(&[key, name], |judge| judge.node(child, Place::Other));
                    }
                }
                "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                    for (index, child) in value.items().iter().enumerate() {
                        self.below(&[key, &index.to_string()], |judge| {
                            judge.node(child, Place::Other);
                        });
                    }
                }
                "items" => self.below(&[key], |judge| judge.node(value, Place::Other)),
                "additionalProperties" if !matches!(value, Doc::Boolean(_)) => {
                    self.below(&[key], |judge| judge.node(value, Place::Other));
                }
                _ => {}
            }
        }
    }
}
