//! Drafts of plans as arguments of tools.

use serde_json::Value;
use tool_core::prelude::*;
use tool_core::store::{self, PlanIssue, PlanRules, PlanSpec};

use super::schema;

/// A plan before it is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PlanDraft {
    /// A short name for people.
    #[schema(length = 1..=200)]
    pub title: String,
    /// What the plan achieves.
    #[schema(length = 1..=4000)]
    pub objective: String,
    /// The JSON Schemas of outputs, to which nodes refer.
    #[schema(max_items = 50)]
    pub schemas: Vec<PlanSchema>,
    /// The nodes of the graph.
    #[schema(max_items = 100)]
    pub nodes: Vec<PlanNode>,
    /// The edges: the node `to` comes after the node `from`. Cycles are not allowed.
    #[schema(max_items = 400)]
    pub edges: Vec<PlanEdge>,
    /// The ids of the nodes that begin: all nodes without an edge to them.
    #[schema(max_items = 100)]
    pub entry_nodes: Vec<String>,
}

/// A JSON Schema of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PlanSchema {
    /// The id, to which `output_schema_ref` refers.
    #[schema(length = 1..=64)]
    pub id: String,
    /// The JSON Schema as JSON text, without `$ref`.
    #[schema(length = 1..=16384)]
    pub schema: String,
}

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PlanNode {
    /// The id, unique in the plan: letters, digits, `.`, `-` and `_`.
    #[schema(length = 1..=64)]
    pub id: String,
    /// What the node does. A node that is not a task completes by itself, and has no owner, schema, deliverables and checks.
    #[serde(rename = "type")]
    pub kind: PlanNodeType,
    /// A short name for people.
    #[schema(length = 0..=200)]
    pub label: String,
    /// The executor that does the work of a task; null for other nodes.
    pub owner: Option<OwnerDraft>,
    /// What the node achieves.
    #[schema(length = 0..=4000)]
    pub objective: String,
    /// How to do the work.
    #[schema(length = 0..=4000)]
    pub instructions: String,
    /// The id of the schema of the output; null if the output has no schema.
    pub output_schema_ref: Option<String>,
    /// The artifacts that the owner has to submit.
    #[schema(max_items = 20)]
    pub deliverables: Vec<Deliverable>,
    /// The criteria of good work, as texts for the owner.
    #[schema(max_items = 20)]
    pub success_criteria: Vec<String>,
    /// Conditions on the output, which are checked when it is submitted.
    #[schema(max_items = 20)]
    pub completion_checks: Vec<PlanCheck>,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlanNodeType {
    /// Work of an owner.
    Task,
    /// Chooses one of its edges by the output of the node before it.
    Switch,
    /// Waits until each node before it is completed or skipped.
    Join,
    /// Begins several branches at once, such as opinions on one question.
    DeliberationFork,
}

/// The executor that does the work of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct OwnerDraft {
    /// The type of the executor.
    pub executor: ExecutorType,
    /// The name of the agent, plugin or person; null for any executor of this type.
    pub name: Option<String>,
}

/// The type of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecutorType {
    /// An agent of the host.
    Agent,
    /// A plugin of the host.
    Plugin,
    /// A person, who does the work outside of the program.
    User,
    /// The host itself.
    System,
}

/// An artifact that a task has to produce.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Deliverable {
    /// The name, to which an artifact refers.
    #[schema(length = 1..=200)]
    pub name: String,
    /// What the artifact contains.
    #[schema(length = 0..=1000)]
    pub description: String,
    /// Whether a result without the artifact is refused.
    pub required: bool,
}

/// A condition on an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PlanCheck {
    /// The JSON Pointer of a value in the output, such as `/verdict`; empty for the whole output.
    #[schema(length = 0..=500)]
    pub pointer: String,
    /// The expected value as JSON text, such as `"good"` or `true`; null if it is enough that the value exists.
    #[schema(length = 0..=2000)]
    pub equals: Option<String>,
}

/// An edge of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PlanEdge {
    /// The id of the first node.
    pub from: String,
    /// The id of the node that comes after it.
    pub to: String,
    /// For an edge of a switch: the condition on the output of the node before the switch. Null for other edges, and for the edge that is taken if no
    /// condition is met.
    pub when: Option<PlanCheck>,
}

impl PlanDraft {
    /// Compiles the draft. The error contains the issues that were found, at least one of them blocking.
    pub(super) fn compile(self, rules: &PlanRules) -> Result<PlanSpec, Vec<PlanIssue>> {
        let mut texts = Texts(Vec::new());
        let draft = self.read(&mut texts);
        let compiled = PlanSpec::compile(draft, rules, schema::check);
        let Texts(mut issues) = texts;
        match compiled {
            Ok(spec) if issues.is_empty() => Ok(spec),
            Ok(_) => Err(issues),
            Err(more) => {
                issues.extend(more);
                Err(issues)
            }
        }
    }

    fn read(self, texts: &mut Texts) -> store::PlanDraft {
        let schemas = self.schemas.into_iter().enumerate();
        let schemas = schemas.map(|(at, schema)| store::PlanSchema {
            id: schema.id,
            schema: texts.read(&schema.schema, || format!("/schemas/{at}/schema")),
        });
        let schemas = schemas.collect();
        let nodes = self.nodes.into_iter().enumerate();
        let nodes = nodes.map(|(at, node)| node.read(at, texts)).collect();
        let edges = self.edges.into_iter().enumerate();
        let edges = edges.map(|(at, edge)| store::PlanEdge {
            from: edge.from,
            to: edge.to,
            when: edge
                .when
                .map(|when| when.read(texts, || format!("/edges/{at}/when/equals"))),
        });
        store::PlanDraft {
            title: self.title,
            objective: self.objective,
            schemas,
            nodes,
            edges: edges.collect(),
            entry_nodes: self.entry_nodes,
        }
    }
}

impl PlanNode {
    fn read(self, at: usize, texts: &mut Texts) -> store::PlanNode {
        let checks = self.completion_checks.into_iter().enumerate();
        let checks = checks.map(|(number, check)| {
            check.read(texts, || {
                format!("/nodes/{at}/completion_checks/{number}/equals")
            })
        });
        let deliverables = self.deliverables.into_iter();
        let deliverables = deliverables.map(|one| store::PlanDeliverable {
            name: one.name,
            description: one.description,
            required: one.required,
        });
        store::PlanNode {
            id: self.id,
            kind: self.kind.into(),
            label: self.label,
            owner: self.owner.map(|owner| store::PlanOwner {
                executor: owner.executor.into(),
                name: owner.name,
            }),
            objective: self.objective,
            instructions: self.instructions,
            output_schema_ref: self.output_schema_ref,
            deliverables: deliverables.collect(),
            success_criteria: self.success_criteria,
            completion_checks: checks.collect(),
        }
    }
}

impl PlanCheck {
    fn read(self, texts: &mut Texts, pointer: impl Fn() -> String) -> store::PlanCondition {
        store::PlanCondition {
            pointer: self.pointer,
            equals: self.equals.map(|text| texts.read(&text, pointer)),
        }
    }
}

impl From<PlanNodeType> for store::PlanNodeKind {
    fn from(kind: PlanNodeType) -> Self {
        match kind {
            PlanNodeType::Task => Self::Task,
            PlanNodeType::Switch => Self::Switch,
            PlanNodeType::Join => Self::Join,
            PlanNodeType::DeliberationFork => Self::DeliberationFork,
        }
    }
}

impl From<ExecutorType> for store::PlanExecutor {
    fn from(executor: ExecutorType) -> Self {
        match executor {
            ExecutorType::Agent => Self::Agent,
            ExecutorType::Plugin => Self::Plugin,
            ExecutorType::User => Self::User,
            ExecutorType::System => Self::System,
        }
    }
}

/// The issues of JSON texts in a draft.
struct Texts(Vec<PlanIssue>);

impl Texts {
    /// Parses a JSON text. If the text is invalid, adds an issue and returns `true`, which causes no second issue as a schema or as a value.
    fn read(&mut self, text: &str, pointer: impl Fn() -> String) -> Value {
        match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                let message = format!(
                    "this is not JSON text ({error}): write for example `\"good\"`, with quotes for a text, or an object"
                );
                self.0.push(PlanIssue::blocking(pointer(), message));
                Value::Bool(true)
            }
        }
    }
}
