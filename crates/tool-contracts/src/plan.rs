//! The tools of the pack `plan` of `tool-std`, for execution plans.
//!
//! A draft is a directed acyclic graph of nodes. All five tools return the same [`ExecutionPlanResult`].

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `create_execution_plan`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct CreateExecutionPlan {
    /// The plan to compile and to start.
    pub draft: PlanDraft,
}

impl ToolContract for CreateExecutionPlan {
    const NAME: &'static str = "create_execution_plan";
    type Input = Self;
    type Output = ExecutionPlanResult;
}

/// The arguments of `replace_execution_plan`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ReplaceExecutionPlan {
    /// The plan that replaces the active one.
    pub draft: PlanDraft,
    /// The reason why the active plan is replaced.
    #[cfg_attr(feature = "schema", schema(length = 1..=2000))]
    pub reason: String,
}

impl ToolContract for ReplaceExecutionPlan {
    const NAME: &'static str = "replace_execution_plan";
    type Input = Self;
    type Output = ExecutionPlanResult;
}

/// The arguments of `submit_execution_node_result`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SubmitExecutionNodeResult {
    /// The id of a task that is ready or running.
    #[cfg_attr(feature = "schema", schema(length = 1..=64))]
    pub node_id: String,
    /// The outcome of the task.
    pub status: AttemptStatus,
    /// The output as JSON text, such as `{"verdict": "good"}`.
    #[cfg_attr(feature = "schema", schema(length = 0..=65536))]
    pub structured_output: Option<String>,
    /// The artifacts that the task has produced.
    #[cfg_attr(feature = "schema", schema(max_items = 20))]
    pub artifacts: Vec<Artifact>,
    /// Notes for people and for later tasks.
    #[cfg_attr(feature = "schema", schema(length = 0..=4000))]
    pub notes: Option<String>,
}

impl ToolContract for SubmitExecutionNodeResult {
    const NAME: &'static str = "submit_execution_node_result";
    type Input = Self;
    type Output = ExecutionPlanResult;
}

/// The arguments of `get_active_execution_plan`: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct GetActiveExecutionPlan {}

impl ToolContract for GetActiveExecutionPlan {
    const NAME: &'static str = "get_active_execution_plan";
    type Input = Self;
    type Output = ExecutionPlanResult;
}

/// The arguments of `resume_execution_plan_run`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ResumeExecutionPlanRun {
    /// The number of the run; null for the active run.
    #[cfg_attr(feature = "schema", schema(range = 1..=9_007_199_254_740_991))]
    pub run_id: Option<u64>,
}

impl ToolContract for ResumeExecutionPlanRun {
    const NAME: &'static str = "resume_execution_plan_run";
    type Input = Self;
    type Output = ExecutionPlanResult;
}

/// A plan before it is compiled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanDraft {
    /// A short name for people.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub title: String,
    /// What the plan achieves.
    #[cfg_attr(feature = "schema", schema(length = 1..=4000))]
    pub objective: String,
    /// The JSON Schemas of outputs, to which nodes refer.
    #[cfg_attr(feature = "schema", schema(max_items = 50))]
    pub schemas: Vec<PlanSchema>,
    /// The nodes of the graph.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub nodes: Vec<PlanNode>,
    /// The edges: the node `to` comes after the node `from`. Cycles are not allowed.
    #[cfg_attr(feature = "schema", schema(max_items = 400))]
    pub edges: Vec<PlanEdge>,
    /// The ids of the nodes that begin: all nodes without an edge to them.
    #[cfg_attr(feature = "schema", schema(max_items = 100))]
    pub entry_nodes: Vec<String>,
}

/// A JSON Schema of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanSchema {
    /// The id, to which `output_schema_ref` refers.
    #[cfg_attr(feature = "schema", schema(length = 1..=64))]
    pub id: String,
    /// The JSON Schema as JSON text, without `$ref`.
    #[cfg_attr(feature = "schema", schema(length = 1..=16384))]
    pub schema: String,
}

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanNode {
    /// The id, unique in the plan: letters, digits, `.`, `-` and `_`.
    #[cfg_attr(feature = "schema", schema(length = 1..=64))]
    pub id: String,
    /// What the node does. A node that is not a task completes by itself, and has no owner, schema, deliverables and checks.
    #[serde(rename = "type")]
    pub kind: PlanNodeType,
    /// A short name for people.
    #[cfg_attr(feature = "schema", schema(length = 0..=200))]
    pub label: String,
    /// The executor that does the work of a task; null for other nodes.
    pub owner: Option<OwnerDraft>,
    /// What the node achieves.
    #[cfg_attr(feature = "schema", schema(length = 0..=4000))]
    pub objective: String,
    /// How to do the work.
    #[cfg_attr(feature = "schema", schema(length = 0..=4000))]
    pub instructions: String,
    /// The id of the schema of the output; null if the output has no schema.
    pub output_schema_ref: Option<String>,
    /// The artifacts that the owner has to submit.
    #[cfg_attr(feature = "schema", schema(max_items = 20))]
    pub deliverables: Vec<Deliverable>,
    /// The criteria of good work, as texts for the owner.
    #[cfg_attr(feature = "schema", schema(max_items = 20))]
    pub success_criteria: Vec<String>,
    /// Conditions on the output, which are checked when it is submitted.
    #[cfg_attr(feature = "schema", schema(max_items = 20))]
    pub completion_checks: Vec<PlanCheck>,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct OwnerDraft {
    /// The type of the executor.
    pub executor: ExecutorType,
    /// The name of the agent, plugin or person; null for any executor of this type.
    pub name: Option<String>,
}

/// The type of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Deliverable {
    /// The name, to which an artifact refers.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub name: String,
    /// What the artifact contains.
    #[cfg_attr(feature = "schema", schema(length = 0..=1000))]
    pub description: String,
    /// Whether a result without the artifact is refused.
    pub required: bool,
}

/// A condition on an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanCheck {
    /// The JSON Pointer of a value in the output, such as `/verdict`; empty for the whole output.
    #[cfg_attr(feature = "schema", schema(length = 0..=500))]
    pub pointer: String,
    /// The expected value as JSON text, such as `"good"` or `true`; null if it is enough that the value exists.
    #[cfg_attr(feature = "schema", schema(length = 0..=2000))]
    pub equals: Option<String>,
}

/// An edge of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanEdge {
    /// The id of the first node.
    pub from: String,
    /// The id of the node that comes after it.
    pub to: String,
    /// For an edge of a switch: the condition on the output of the node before the switch. Null for other edges, and for the edge that is taken if no
    /// condition is met.
    pub when: Option<PlanCheck>,
}

/// The outcome of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum AttemptStatus {
    /// The work is done.
    Completed,
    /// The work cannot be done. The run of the plan fails.
    Failed,
    /// The work cannot continue without help.
    Blocked,
}

/// An artifact that a task produced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Artifact {
    /// The name of the deliverable.
    #[cfg_attr(feature = "schema", schema(length = 1..=200))]
    pub name: String,
    /// Where it is: a URL, or a path in the workspace.
    #[cfg_attr(feature = "schema", schema(length = 0..=2000))]
    pub uri: Option<String>,
    /// Its text, if it is short.
    #[cfg_attr(feature = "schema", schema(length = 0..=20000))]
    pub content: Option<String>,
}

/// The result of the five tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ExecutionPlanResult {
    /// The run; null if the conversation has no active run, or if blocking issues prevented the change.
    pub plan: Option<PlanSnapshot>,
    /// The issues of the draft or of the submitted result. A result with a blocking issue was not accepted.
    pub issues: Vec<PlanIssue>,
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanSnapshot {
    /// The number of the run in the conversation, which is also the version of the plan.
    pub run_id: u64,
    /// The title of the plan.
    pub title: String,
    /// What the plan achieves.
    pub objective: String,
    /// The status of the run.
    pub status: RunStatus,
    /// The nodes, in the order of the draft.
    pub nodes: Vec<NodeSnapshot>,
    /// The ids of the nodes that can begin now.
    pub ready_nodes: Vec<String>,
    /// The number of the run that this run replaced; null if it replaced none.
    pub replaces: Option<u64>,
    /// The number of checkpoints: it increases when nodes are done.
    pub checkpoint: u64,
}

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct NodeSnapshot {
    /// The id of the node.
    pub id: String,
    /// The short name of the node.
    pub label: String,
    /// The owner, such as `agent:writer`; null for nodes that complete by themselves.
    pub owner: Option<String>,
    /// The status of the node.
    pub status: NodeStatus,
    /// The number of attempts.
    pub attempts: u32,
    /// The notes of the last attempt.
    pub notes: Option<String>,
    /// What to do; null unless the node is ready or running.
    pub work: Option<NodeWork>,
}

/// The work of a node that is ready or running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct NodeWork {
    /// What the node achieves.
    pub objective: String,
    /// How to do the work.
    pub instructions: String,
    /// The criteria of good work.
    pub success_criteria: Vec<String>,
    /// The names of the artifacts that are required.
    pub required_artifacts: Vec<String>,
    /// The JSON Schema of the output, as JSON text.
    pub output_schema: Option<String>,
    /// The output of the task before the node, or an object with the outputs of several, as JSON text.
    pub input: String,
}

/// The status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// A node that is not a task of a user is ready or running.
    Running,
    /// The run waits for a person: for the approval of the plan, or because only tasks of users are left to do now.
    AwaitingHuman,
    /// Each node that could continue is blocked.
    Blocked,
    /// All nodes are completed or skipped.
    Completed,
    /// The run was ended or replaced, or a person rejected its plan.
    Aborted,
    /// A node failed.
    Failed,
}

/// The status of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum NodeStatus {
    /// Nodes before it are not done.
    Pending,
    /// It can begin.
    Ready,
    /// An executor works on it.
    Running,
    /// Its result was accepted.
    Completed,
    /// It cannot continue without help.
    Blocked,
    /// The run does not need it, or ended before it was done.
    Skipped,
    /// It failed.
    Failed,
}

/// A fault of a draft or of a submitted result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanIssue {
    /// Whether the fault prevents the change.
    pub severity: IssueSeverity,
    /// The JSON Pointer of the fault, such as `/nodes/2/owner`.
    pub pointer: String,
    /// What is wrong, and what to write instead.
    pub message: String,
}

/// The severity of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum IssueSeverity {
    /// The plan does not start, or the result is not accepted.
    Blocking,
    /// The plan starts, but probably does not work as intended.
    Warning,
}
