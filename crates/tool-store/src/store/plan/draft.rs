//! Drafts of plans, which a model or a program writes before a plan is compiled.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::words;

/// A draft of a plan: nodes of work, and edges that order them. [`PlanSpec::compile`](super::PlanSpec::compile) checks it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanDraft {
    /// A short name for people.
    pub title: String,
    /// What the plan achieves.
    pub objective: String,
    /// The JSON Schemas that nodes refer to.
    pub schemas: Vec<PlanSchema>,
    /// The nodes of the plan.
    pub nodes: Vec<PlanNode>,
    /// The edges between the nodes.
    pub edges: Vec<PlanEdge>,
    /// The ids of the nodes that become ready first.
    pub entry_nodes: Vec<String>,
}

/// A JSON Schema with an id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanSchema {
    /// The id, to which [`PlanNode::output_schema_ref`] refers.
    pub id: String,
    /// The JSON Schema itself.
    pub schema: Value,
}

/// A node of a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanNode {
    /// The id: 1 to 64 ASCII letters, digits, `.`, `-` and `_`. It is unique in the plan.
    pub id: String,
    /// What the node does.
    #[serde(rename = "type")]
    pub kind: PlanNodeKind,
    /// A short name for people.
    pub label: String,
    /// The executor that does the work of a task. Structural nodes have no owner.
    pub owner: Option<PlanOwner>,
    /// What the node achieves.
    pub objective: String,
    /// How to do the work.
    pub instructions: String,
    /// The id of the schema of the node's structured output.
    pub output_schema_ref: Option<String>,
    /// The artifacts that the node produces.
    pub deliverables: Vec<PlanDeliverable>,
    /// The criteria of good work, as texts for the owner.
    pub success_criteria: Vec<String>,
    /// Conditions on the structured output, which are checked when an executor reports that the node is completed.
    pub completion_checks: Vec<PlanCondition>,
}

/// What a node of a plan does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanNodeKind {
    /// Work of an owner. It becomes ready when all nodes before it are completed, and is skipped if one of them is skipped.
    #[default]
    Task,
    /// Chooses one of its edges by the output of the node before it. For the nodes on its other edges, the switch counts as skipped.
    Switch,
    /// Waits until each node before it is completed or skipped. It is skipped only if all of them are skipped.
    Join,
    /// Begins several branches at once, such as the opinions of several agents on one question.
    DeliberationFork,
}

words!(PlanNodeKind {
    Task = "task",
    Switch = "switch",
    Join = "join",
    DeliberationFork = "deliberation_fork",
});

/// The type of the executor of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanExecutor {
    /// An agent, by its name.
    Agent,
    /// A plugin of the host, by its name.
    Plugin,
    /// A person, by the name of the user.
    User,
    /// A function of the host, by its name.
    System,
}

words!(PlanExecutor {
    Agent = "agent",
    Plugin = "plugin",
    User = "user",
    System = "system",
});

/// The owner of a task: an executor, and the name of the agent, plugin, person or function of the host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PlanOwner {
    /// The type of the executor.
    pub executor: PlanExecutor,
    /// The name; `None` for any executor of this type.
    #[serde(default)]
    pub name: Option<String>,
}

impl PlanOwner {
    /// Creates an owner with a name.
    pub fn new(executor: PlanExecutor, name: impl Into<String>) -> Self {
        Self {
            executor,
            name: Some(name.into()),
        }
    }

    /// Creates an owner without a name: any executor of this type.
    pub fn any(executor: PlanExecutor) -> Self {
        Self {
            executor,
            name: None,
        }
    }

    /// Returns whether `by` may work on a task of this owner. A side without a name covers every name.
    pub fn covers(&self, by: &Self) -> bool {
        self.executor == by.executor
            && match (&self.name, &by.name) {
                (Some(own), Some(other)) => own == other,
                _ => true,
            }
    }
}

impl fmt::Display for PlanOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{}:{name}", self.executor),
            None => write!(f, "{}", self.executor),
        }
    }
}

/// An artifact that a node produces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanDeliverable {
    /// The name, which is unique in the node. [`PlanArtifact::name`](super::PlanArtifact::name) repeats it.
    pub name: String,
    /// What the artifact contains.
    #[serde(default)]
    pub description: String,
    /// Whether a result without the artifact is faulty.
    pub required: bool,
}

/// A condition on a JSON value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCondition {
    /// The JSON Pointer (RFC 6901) of a value, such as `/verdict`; empty for the whole output.
    pub pointer: String,
    /// The expected value; `None` if it is enough that the value exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equals: Option<Value>,
}

impl PlanCondition {
    /// Returns whether a value meets the condition.
    pub fn is_met(&self, value: &Value) -> bool {
        let found = value.pointer(&self.pointer);
        found.is_some_and(|found| self.equals.as_ref().is_none_or(|wanted| wanted == found))
    }
}

impl fmt::Display for PlanCondition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.equals {
            Some(wanted) => write!(f, "the value at `{}` equals {wanted}", self.pointer),
            None => write!(f, "there is a value at `{}`", self.pointer),
        }
    }
}

/// An edge of a draft: the second node comes after the first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEdge {
    /// The id of the first node.
    pub from: String,
    /// The id of the second node.
    pub to: String,
    /// For an edge of a switch: the condition on the output of the node before the switch. An edge without a condition is taken if no other edge is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<PlanCondition>,
}
