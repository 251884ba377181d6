//! Results of the tools: the state of a run, and issues.

use tool_core::prelude::*;
use tool_core::store::{self, PlanNodeStatus, PlanRow};

use crate::mirrored::mirrored;

/// The result of the five tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct ExecutionPlanResult {
    /// The run; null if the conversation has no active run, or if blocking issues prevented the change.
    pub plan: Option<PlanSnapshot>,
    /// The issues of the draft or of the submitted result. A result with a blocking issue was not accepted.
    pub issues: Vec<PlanIssue>,
}

/// The state of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
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

mirrored! {
    /// The status of a run.
    RunStatus {
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
    } = PlanStatus
}

mirrored! {
    /// The status of a node.
    NodeStatus {
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
    } = PlanNodeStatus
}

/// A fault of a draft or of a submitted result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PlanIssue {
    /// Whether the fault prevents the change.
    pub severity: IssueSeverity,
    /// The JSON Pointer of the fault, such as `/nodes/2/owner`.
    pub pointer: String,
    /// What is wrong, and what to write instead.
    pub message: String,
}

mirrored! {
    /// The severity of an issue.
    IssueSeverity {
        /// The plan does not start, or the result is not accepted.
        Blocking,
        /// The plan starts, but probably does not work as intended.
        Warning,
    } = PlanSeverity
}

impl ExecutionPlanResult {
    pub(super) fn of(row: &PlanRow, issues: &[store::PlanIssue]) -> Self {
        Self {
            plan: Some(PlanSnapshot::of(row)),
            issues: issues.iter().map(PlanIssue::of).collect(),
        }
    }

    pub(super) fn refused(issues: &[store::PlanIssue]) -> Self {
        Self {
            plan: None,
            issues: issues.iter().map(PlanIssue::of).collect(),
        }
    }
}

impl PlanSnapshot {
    /// Creates the snapshot of a stored run.
    pub fn of(row: &PlanRow) -> Self {
        let draft = row.spec.draft();
        let nodes = draft.nodes.iter().zip(&row.nodes);
        let ready = row.nodes_with(PlanNodeStatus::Ready);
        Self {
            run_id: row.id.number(),
            title: draft.title.clone(),
            objective: draft.objective.clone(),
            status: row.status.into(),
            nodes: nodes
                .map(|(node, run)| NodeSnapshot::of(row, node, run))
                .collect(),
            ready_nodes: ready.map(str::to_owned).collect(),
            replaces: row.replaces,
            checkpoint: row.checkpoint.number,
        }
    }
}

impl NodeSnapshot {
    fn of(row: &PlanRow, node: &store::PlanNode, run: &store::PlanNodeRun) -> Self {
        let is_open = matches!(run.status, PlanNodeStatus::Ready | PlanNodeStatus::Running);
        let last = run.attempts.last();
        Self {
            id: node.id.clone(),
            label: node.label.clone(),
            owner: node.owner.as_ref().map(ToString::to_string),
            status: run.status.into(),
            attempts: u32::try_from(run.attempts.len()).unwrap_or(u32::MAX),
            notes: last.and_then(|attempt| attempt.notes.clone()),
            work: is_open.then(|| NodeWork::of(row, node)),
        }
    }
}

impl NodeWork {
    fn of(row: &PlanRow, node: &store::PlanNode) -> Self {
        let required = node.deliverables.iter().filter(|one| one.required);
        Self {
            objective: node.objective.clone(),
            instructions: node.instructions.clone(),
            success_criteria: node.success_criteria.clone(),
            required_artifacts: required.map(|one| one.name.clone()).collect(),
            output_schema: row.spec.output_schema(node).map(ToString::to_string),
            input: row.input(&node.id).to_string(),
        }
    }
}

impl PlanIssue {
    fn of(issue: &store::PlanIssue) -> Self {
        Self {
            severity: issue.severity.into(),
            pointer: issue.pointer.clone(),
            message: issue.message.clone(),
        }
    }
}
