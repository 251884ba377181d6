//! The tools of execution plans.
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
    /// The id of the node, which must be running.
    pub node_id: String,
    /// The outcome of the attempt.
    pub status: AttemptStatus,
    /// The output as JSON text, which must fit the node's output schema.
    pub structured_output: Option<String>,
    /// The deliverables that the attempt produced.
    pub artifacts: Vec<Artifact>,
    /// Notes about the attempt.
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
    /// The id of the interrupted run; null for the active run.
    pub run_id: Option<String>,
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
    /// The title of the plan.
    pub title: String,
    /// The goal of the plan.
    pub objective: String,
    /// The schemas that nodes refer to.
    pub schemas: Vec<PlanSchema>,
    /// The nodes of the graph.
    pub nodes: Vec<PlanNode>,
    /// The edges of the graph.
    pub edges: Vec<PlanEdge>,
    /// The ids of the nodes with which the run starts.
    pub entry_nodes: Vec<String>,
}

/// A schema of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanSchema {
    /// The name to which `output_schema_ref` refers.
    pub name: String,
    /// The JSON Schema as JSON text.
    pub schema: String,
}

/// A node of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanNode {
    /// The id of the node, unique in the plan.
    pub id: String,
    /// The type of the node.
    #[serde(rename = "type")]
    pub kind: PlanNodeType,
    /// A short name for people.
    pub label: String,
    /// Who does the work of the node.
    pub owner: PlanOwner,
    /// The goal of the node.
    pub objective: String,
    /// Instructions for the owner.
    pub instructions: String,
    /// The name of the schema of the node's output.
    pub output_schema_ref: Option<String>,
    /// The results that the owner has to submit.
    pub deliverables: Vec<Deliverable>,
    /// The criteria by which people judge the result.
    pub success_criteria: Vec<String>,
    /// The checks that a result has to pass.
    pub completion_checks: Vec<String>,
}

/// The type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PlanNodeType {
    /// Work that the owner does.
    Task,
    /// A structural node: the run continues on one of the edges.
    Switch,
    /// A structural node: the run continues after all edges to the node.
    Join,
    /// A structural node: several owners work on the same question.
    DeliberationFork,
}

/// Who does the work of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanOwner {
    /// The type of the executor.
    #[serde(rename = "type")]
    pub kind: ExecutorType,
    /// The id of the agent, plugin or user; null for the system.
    pub id: Option<String>,
}

/// The type of an executor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExecutorType {
    /// An agent of the host.
    Agent,
    /// A plugin of the host.
    Plugin,
    /// A person.
    User,
    /// The host itself.
    System,
}

/// A result that a node has to produce.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Deliverable {
    /// The name, to which an artifact refers.
    pub name: String,
    /// A description of the deliverable.
    pub description: String,
    /// Whether the node is complete only with this deliverable.
    pub required: bool,
}

/// An edge of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanEdge {
    /// The id of the node that has to be complete.
    pub from: String,
    /// The id of the node that follows.
    pub to: String,
    /// For an edge of a switch: the value of the switch's output with which the run continues here.
    pub condition: Option<String>,
}

/// The outcome of an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AttemptStatus {
    /// The work is done.
    Completed,
    /// The work failed.
    Failed,
    /// The work cannot continue without a decision.
    Blocked,
}

/// A deliverable that an attempt produced.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Artifact {
    /// The name of the deliverable.
    pub name: String,
    /// The text of the artifact, or a reference to it.
    pub content: String,
}

/// The result of the five tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ExecutionPlanResult {
    /// The run; null if there is no active run, or if blocking issues prevented one.
    pub plan: Option<PlanSnapshot>,
    /// The issues of the draft or of the submitted result.
    pub issues: Vec<PlanIssue>,
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanSnapshot {
    /// The id of the run.
    pub run_id: String,
    /// The title of the plan.
    pub title: String,
    /// The version of the plan.
    pub version: u32,
    /// The state of the run.
    pub status: RunStatus,
    /// The nodes in the order of the draft.
    pub nodes: Vec<NodeSnapshot>,
    /// The ids of the nodes that can run now.
    pub ready_nodes: Vec<String>,
    /// The id of the run that this run replaced.
    pub replaces: Option<String>,
}

/// The state of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct NodeSnapshot {
    /// The id of the node.
    pub id: String,
    /// The short name of the node.
    pub label: String,
    /// The state of the node.
    pub status: NodeStatus,
    /// The number of attempts.
    pub attempts: u32,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Nodes are ready or running.
    Running,
    /// Only people can continue the run.
    AwaitingHuman,
    /// No node can run.
    Blocked,
    /// All nodes are done.
    Completed,
    /// The run was aborted or replaced.
    Aborted,
    /// A node failed for good.
    Failed,
}

/// The state of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NodeStatus {
    /// An earlier node is not done.
    Pending,
    /// The node can run.
    Ready,
    /// The owner works on the node.
    Running,
    /// The node is done.
    Completed,
    /// The node cannot continue without a decision.
    Blocked,
    /// The run does not need the node.
    Skipped,
    /// The node failed for good.
    Failed,
}

/// A fault of a draft or of a submitted result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PlanIssue {
    /// Whether the fault prevents the run.
    pub severity: IssueSeverity,
    /// The JSON pointer to the fault, such as `/nodes/2/owner`.
    pub pointer: String,
    /// The fault, and what to write instead.
    pub message: String,
}

/// The severity of an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "kebab-case")]
pub enum IssueSeverity {
    /// The plan does not start, or the result is not accepted.
    Blocking,
    /// The plan starts all the same.
    Warning,
}
