//! The state of a run of a plan: statuses, node runs, attempts, artifacts and events.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::store::{Timestamp, words};

use super::compile::PlanIssue;
use super::draft::PlanOwner;

/// The status of a run of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanStatus {
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
    /// A node of the run failed.
    Failed,
}

words!(PlanStatus {
    Running = "running",
    AwaitingHuman = "awaiting_human",
    Blocked = "blocked",
    Completed = "completed",
    Aborted = "aborted",
    Failed = "failed",
});

impl PlanStatus {
    /// Returns whether the run is the active run of its conversation.
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Running | Self::AwaitingHuman | Self::Blocked)
    }

    /// Returns whether a run in this status may change to `next`.
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Running | Self::AwaitingHuman => self as u8 != next as u8,
            // The run cannot complete or fail before a node continues.
            Self::Blocked => matches!(next, Self::Running | Self::AwaitingHuman | Self::Aborted),
            Self::Completed | Self::Aborted | Self::Failed => false,
        }
    }
}

/// The status of a node in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanNodeStatus {
    /// Nodes before this node are not done, or the plan is not approved.
    Pending,
    /// An executor may begin the node.
    Ready,
    /// An executor works on the node, or the process of the executor died.
    Running,
    /// The result of the node was accepted, or the node is structural and has run.
    Completed,
    /// The node cannot continue without help.
    Blocked,
    /// The node is not needed: a switch chose a different branch, or the run ended.
    Skipped,
    /// The node failed, so the run failed.
    Failed,
}

words!(PlanNodeStatus {
    Pending = "pending",
    Ready = "ready",
    Running = "running",
    Completed = "completed",
    Blocked = "blocked",
    Skipped = "skipped",
    Failed = "failed",
});

impl PlanNodeStatus {
    /// Returns whether the node no longer changes.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Skipped | Self::Failed)
    }

    /// Returns whether a node in this status may change to `next`.
    pub const fn may_become(self, next: Self) -> bool {
        match self {
            Self::Pending => matches!(next, Self::Ready | Self::Skipped),
            Self::Ready => matches!(next, Self::Running | Self::Skipped),
            Self::Running => matches!(
                next,
                Self::Ready | Self::Completed | Self::Blocked | Self::Skipped | Self::Failed
            ),
            Self::Blocked => matches!(next, Self::Ready | Self::Skipped),
            Self::Completed | Self::Skipped | Self::Failed => false,
        }
    }
}

/// The status of an attempt at a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanAttemptStatus {
    /// The attempt continues, or the process of the executor died.
    Running,
    /// The result of the attempt was accepted.
    Completed,
    /// The executor reported a failure, or the result was faulty.
    Failed,
    /// The executor could not continue.
    Blocked,
    /// The lease of the executor had expired when the run was resumed, or the run ended.
    Interrupted,
}

words!(PlanAttemptStatus {
    Running = "running",
    Completed = "completed",
    Failed = "failed",
    Blocked = "blocked",
    Interrupted = "interrupted",
});

/// One attempt of an executor at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanAttempt {
    /// The number of the attempt at the node; the first is 1.
    pub number: u32,
    /// The status of the attempt.
    pub status: PlanAttemptStatus,
    /// The executor that makes the attempt.
    pub by: PlanOwner,
    /// When the attempt began.
    pub started: Timestamp,
    /// The end of the lease of the executor. After that time, [`PlanChange::Resume`](super::PlanChange::Resume) makes the node ready again, or blocks
    /// the node if its effects are unresolved.
    pub lease_until: Timestamp,
    /// When the attempt ended.
    pub ended: Option<Timestamp>,
    /// The faults of the result of the attempt.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub issues: Vec<PlanIssue>,
    /// The notes of the executor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
    /// The structured output that was not accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_output: Option<Value>,
}

/// A file, page or text that a node produced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanArtifact {
    /// The name of the deliverable.
    pub name: String,
    /// The location of the artifact: a URL, a path in the workspace, or the handle of a spilled output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// The text of the artifact, if the text is short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// The run of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanNodeRun {
    /// The status of the node.
    pub status: PlanNodeStatus,
    /// The attempts, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<PlanAttempt>,
    /// The accepted structured output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// The artifacts of the accepted result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<PlanArtifact>,
    /// The edge that a switch chose, by its position in the draft.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<usize>,
}

impl PlanNodeRun {
    pub(super) fn new(status: PlanNodeStatus) -> Self {
        Self {
            status,
            attempts: Vec::new(),
            output: None,
            artifacts: Vec::new(),
            chosen: None,
        }
    }

    /// Returns the number of attempts whose result was faulty or that failed.
    pub fn failed_attempts(&self) -> u32 {
        let failed = |attempt: &&PlanAttempt| attempt.status == PlanAttemptStatus::Failed;
        u32::try_from(self.attempts.iter().filter(failed).count()).unwrap_or(u32::MAX)
    }

    /// Returns the attempt that is running.
    pub fn running(&self) -> Option<&PlanAttempt> {
        let last = self.attempts.last();
        last.filter(|attempt| attempt.status == PlanAttemptStatus::Running)
    }
}

/// The approval of a plan by a person. It is separate from the approvals of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanApproval {
    /// The answer; `None` while the plan waits for it.
    pub answer: Option<PlanAnswer>,
}

/// A person's answer to the request to approve a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanAnswer {
    /// Whether the plan may begin.
    pub approved: bool,
    /// The person who answered.
    pub by: String,
    /// The reason for the answer.
    #[serde(default)]
    pub reason: Option<String>,
    /// When the person answered.
    pub at: Timestamp,
}

/// A point from which a run can continue, with the nodes that are done. Each change of a run is one transaction, so the stored row always contains
/// the latest checkpoint, and only the work of running attempts is not part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanCheckpoint {
    /// The number of checkpoints of the run. It increases by 1 when nodes are completed, skipped or failed.
    pub number: u64,
    /// The sequence number of the event that records the checkpoint.
    pub event: u64,
    /// When the checkpoint was made.
    pub at: Timestamp,
}

/// The kind of an event in a run of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanEventKind {
    /// The run was created.
    Created,
    /// A person approved the plan.
    Approved,
    /// A person rejected the plan.
    Rejected,
    /// The status of the run changed.
    RunStatus,
    /// The status of a node changed.
    NodeStatus,
    /// An attempt at a node ended.
    AttemptEnded,
    /// A checkpoint was made.
    Checkpoint,
    /// The run was resumed.
    Resumed,
    /// A different run replaced this one.
    Replaced,
}

words!(PlanEventKind {
    Created = "created",
    Approved = "approved",
    Rejected = "rejected",
    RunStatus = "run_status",
    NodeStatus = "node_status",
    AttemptEnded = "attempt_ended",
    Checkpoint = "checkpoint",
    Resumed = "resumed",
    Replaced = "replaced",
});

/// An entry of the event log of a run. It contains ids and statuses, and no texts of the plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PlanEvent {
    /// The sequence number in the run; the first is 1.
    pub seq: u64,
    /// The kind of the event.
    pub kind: PlanEventKind,
    /// The id of the node; `None` for events of the whole run.
    pub node: Option<String>,
    /// The number of the attempt, for the end of an attempt.
    pub attempt: Option<u32>,
    /// The new status: a word of [`PlanStatus`], [`PlanNodeStatus`] or [`PlanAttemptStatus`].
    pub status: Option<String>,
    /// When the event happened.
    pub at: Timestamp,
}

impl PlanEvent {
    /// Creates an event of the whole run.
    pub fn new(seq: u64, kind: PlanEventKind, at: Timestamp) -> Self {
        Self {
            seq,
            kind,
            node: None,
            attempt: None,
            status: None,
            at,
        }
    }
}
