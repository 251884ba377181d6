//! Changes of a run of a plan: their conditions and their effects.

use serde_json::Value;

use crate::store::Timestamp;

use super::PlanRow;
use super::compile::PlanIssue;
use super::draft::{PlanNode, PlanNodeKind, PlanOwner};
use super::state::{
    PlanAnswer, PlanArtifact, PlanAttempt, PlanAttemptStatus, PlanEvent, PlanEventKind,
    PlanNodeStatus, PlanStatus,
};
use super::step::Step;

/// Maximum size of the result of a node, in bytes: the JSON of the output, the texts of the artifacts, and the notes.
const MOST_RESULT: usize = 64 * 1024;

/// A change of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PlanChange {
    /// An executor begins an attempt at a ready node, with a lease.
    Start {
        /// The id of the node.
        node: String,
        /// The executor of the node.
        by: PlanOwner,
        /// The end of the lease.
        lease_until: Timestamp,
    },
    /// An executor extends the lease of its running attempt at a node.
    Renew {
        /// The id of the node.
        node: String,
        /// The number of the running attempt.
        attempt: u32,
        /// The new end of the lease.
        lease_until: Timestamp,
    },
    /// An executor submits the result of a node.
    Submit(PlanSubmission),
    /// Continues a run whose processes died: each running node whose lease has expired is ready again. Completed nodes stay completed. If no
    /// lease has expired, nothing changes.
    Resume {
        /// The ids of the nodes whose effects are unresolved. The change blocks these nodes instead. Unblock them when the effects are settled.
        unresolved: Vec<String>,
    },
    /// Makes a blocked node ready again.
    Unblock {
        /// The id of the node.
        node: String,
    },
    /// A person approves or rejects the plan. A rejected run is aborted.
    Answer(PlanAnswer),
    /// Ends the run as aborted.
    Abort,
}

/// The outcome that an executor reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PlanOutcome {
    /// The work is done.
    Completed,
    /// The work cannot be done. The run fails.
    Failed,
    /// The work cannot continue without help.
    Blocked,
}

/// The result of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSubmission {
    /// The id of the node.
    pub node: String,
    /// The number of the attempt, as a fence: a result of an earlier attempt is refused. `None` submits for the running attempt, or begins and ends
    /// an attempt at a ready node.
    pub attempt: Option<u32>,
    /// The executor that submits the result.
    pub by: PlanOwner,
    /// The outcome that the executor reports.
    pub outcome: PlanOutcome,
    /// The structured output of the node.
    pub output: Option<Value>,
    /// The faults of the output under the schema of the node ([`PlanSpec::output_schema`](super::PlanSpec::output_schema)). The caller has validated
    /// the output, because this crate has no validator; the schema of a plan never changes.
    pub schema_issues: Vec<PlanIssue>,
    /// The artifacts of the node.
    pub artifacts: Vec<PlanArtifact>,
    /// Notes for people and for later nodes.
    pub notes: Option<String>,
}

/// Why a change of a run was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanRefusal {
    /// The run has ended.
    #[error("the run of the plan has ended with the status `{0}`: create a new plan")]
    Ended(PlanStatus),
    /// The plan has no such node.
    #[error("the plan has no node `{0}`: use the id of a node of the active plan")]
    UnknownNode(String),
    /// The change requires that the node has a different status.
    #[error("the node `{node}` is {status}: {advice}")]
    Status {
        /// The id of the node.
        node: String,
        /// The current status of the node.
        status: PlanNodeStatus,
        /// What to do instead.
        advice: String,
    },
    /// A structural node has no executor.
    #[error("the node `{0}` is structural, so it completes by itself: work on the tasks after it")]
    Structural(String),
    /// The executor does not own the node.
    #[error(
        "the node `{node}` belongs to `{owner}`, and `{by}` cannot work on it: work on your own nodes"
    )]
    Owner {
        /// The id of the node.
        node: String,
        /// The owner of the node, or the executor of the running attempt at the node.
        owner: PlanOwner,
        /// The executor of the change.
        by: PlanOwner,
    },
    /// The attempt is not running: it has ended, or never began.
    #[error(
        "attempt {attempt} at the node `{node}` is not running: read the active plan, and begin again if the node is ready"
    )]
    Attempt {
        /// The id of the node.
        node: String,
        /// The number of the attempt.
        attempt: u32,
    },
    /// The plan does not wait for an approval.
    #[error("the plan does not wait for an approval")]
    NotAwaited,
    /// The result is longer than 64 KiB.
    #[error(
        "the result has {0} bytes, and at most {MOST_RESULT} are stored: write long contents to a file, and submit its path as an artifact"
    )]
    TooLong(usize),
}

impl PlanSubmission {
    fn check_size(&self) -> Result<(), PlanRefusal> {
        let output = self
            .output
            .as_ref()
            .map_or(0, |output| output.to_string().len());
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let artifacts = self.artifacts.iter();
        let artifacts: usize = artifacts
            .map(|artifact| artifact.name.len() + text(&artifact.uri) + text(&artifact.content))
            .sum();
        let size = output + artifacts + text(&self.notes);
        if size > MOST_RESULT {
            return Err(PlanRefusal::TooLong(size));
        }
        Ok(())
    }

    /// Returns the faults of the result: faults of its output, a missing output, missing deliverables, and checks that the output does not meet.
    fn faults(&self, node: &PlanNode) -> Vec<PlanIssue> {
        let mut faults = self.schema_issues.clone();
        let output = self.output.as_ref();
        if let Some(schema) = &node.output_schema_ref
            && output.is_none()
        {
            let message = format!("the node needs an output of the schema `{schema}`: add it");
            faults.push(PlanIssue::blocking("/structured_output", message));
        }
        let required = node
            .deliverables
            .iter()
            .filter(|deliverable| deliverable.required);
        for deliverable in required {
            let name = &deliverable.name;
            let is_there = |artifact: &PlanArtifact| {
                let is_empty = artifact.uri.is_none() && artifact.content.is_none();
                artifact.name == *name && !is_empty
            };
            if !self.artifacts.iter().any(is_there) {
                let message = format!(
                    "the deliverable `{name}` is missing: add an artifact with this name and a `uri` or `content`"
                );
                faults.push(PlanIssue::blocking("/artifacts", message));
            }
        }
        for check in &node.completion_checks {
            if !check.is_met(output.unwrap_or(&Value::Null)) {
                let message = format!("the output does not meet a check of the node: {check}");
                let pointer = format!("/structured_output{}", check.pointer);
                faults.push(PlanIssue::blocking(pointer, message));
            }
        }
        faults
    }
}

impl PlanRow {
    /// Applies a change. Returns the new events; on a refusal, the row is unchanged.
    pub fn apply(
        &mut self,
        change: &PlanChange,
        at: Timestamp,
    ) -> Result<Vec<PlanEvent>, PlanRefusal> {
        if !self.status.is_active() {
            return Err(PlanRefusal::Ended(self.status));
        }
        match change {
            PlanChange::Start {
                node,
                by,
                lease_until,
            } => self.start(node, by, *lease_until, at),
            PlanChange::Renew {
                node,
                attempt,
                lease_until,
            } => {
                let place = self.place(node)?;
                let running = self.attempt(place, node, Some(*attempt))?;
                running.lease_until = *lease_until;
                self.updated = at;
                Ok(Vec::new())
            }
            PlanChange::Submit(submission) => self.submit(submission, at),
            PlanChange::Resume { unresolved } => Ok(self.resume(unresolved, at)),
            PlanChange::Unblock { node } => {
                let place = self.place(node)?;
                if self.nodes[place].status != PlanNodeStatus::Blocked {
                    return Err(self.wrong_status(place, "only a blocked node can be unblocked"));
                }
                let mut step = Step::new(self, at);
                step.set(place, PlanNodeStatus::Ready);
                Ok(step.end())
            }
            PlanChange::Answer(answer) => self.answer(answer, at),
            PlanChange::Abort => {
                let mut step = Step::new(self, at);
                step.stop(PlanStatus::Aborted);
                Ok(step.finish())
            }
        }
    }

    fn place(&self, node: &str) -> Result<usize, PlanRefusal> {
        let found = self.spec.node(node);
        let (place, _) = found.ok_or_else(|| PlanRefusal::UnknownNode(node.to_owned()))?;
        Ok(place)
    }

    fn wrong_status(&self, place: usize, advice: impl Into<String>) -> PlanRefusal {
        PlanRefusal::Status {
            node: self.spec.draft().nodes[place].id.clone(),
            status: self.nodes[place].status,
            advice: advice.into(),
        }
    }

    /// Returns the running attempt at a node.
    fn attempt(
        &mut self,
        place: usize,
        node: &str,
        number: Option<u32>,
    ) -> Result<&mut PlanAttempt, PlanRefusal> {
        let last = self.nodes[place].attempts.last_mut();
        let running = last.filter(|last| {
            last.status == PlanAttemptStatus::Running
                && number.is_none_or(|number| number == last.number)
        });
        running.ok_or_else(|| PlanRefusal::Attempt {
            node: node.to_owned(),
            attempt: number.unwrap_or_default(),
        })
    }

    /// Checks that the node is a task, and that the executor may work on it.
    fn check_owner(&self, place: usize, by: &PlanOwner) -> Result<(), PlanRefusal> {
        let node = &self.spec.draft().nodes[place];
        let Some(owner) = node
            .owner
            .as_ref()
            .filter(|_| node.kind == PlanNodeKind::Task)
        else {
            return Err(PlanRefusal::Structural(node.id.clone()));
        };
        // While an attempt is running, only its executor may work on the node, even if the owner covers other executors.
        let holder = self.nodes[place]
            .running()
            .map_or(owner, |attempt| &attempt.by);
        if owner.covers(by) && holder.covers(by) {
            return Ok(());
        }
        Err(PlanRefusal::Owner {
            node: node.id.clone(),
            owner: holder.clone(),
            by: by.clone(),
        })
    }

    fn start(
        &mut self,
        node: &str,
        by: &PlanOwner,
        lease_until: Timestamp,
        at: Timestamp,
    ) -> Result<Vec<PlanEvent>, PlanRefusal> {
        let place = self.place(node)?;
        self.check_owner(place, by)?;
        if self.nodes[place].status != PlanNodeStatus::Ready {
            return Err(self.wrong_status(place, "only a ready node can begin"));
        }
        let mut step = Step::new(self, at);
        step.begin(place, by.clone(), lease_until);
        Ok(step.end())
    }

    fn submit(
        &mut self,
        new: &PlanSubmission,
        at: Timestamp,
    ) -> Result<Vec<PlanEvent>, PlanRefusal> {
        let place = self.place(&new.node)?;
        self.check_owner(place, &new.by)?;
        new.check_size()?;
        match self.nodes[place].status {
            PlanNodeStatus::Running => {
                self.attempt(place, &new.node, new.attempt)?;
            }
            // An executor may submit a result without a `Start`, for example an agent that has only the tools of plans.
            PlanNodeStatus::Ready if new.attempt.is_none() => {}
            PlanNodeStatus::Ready => {
                let (node, attempt) = (new.node.clone(), new.attempt.unwrap_or_default());
                return Err(PlanRefusal::Attempt { node, attempt });
            }
            PlanNodeStatus::Pending => return Err(self.wrong_status(place, self.awaited(place))),
            PlanNodeStatus::Blocked => {
                return Err(
                    self.wrong_status(place, "ask the user to unblock it, or replace the plan")
                );
            }
            _ => return Err(self.wrong_status(place, "its result cannot change any more")),
        }
        let faults = match new.outcome {
            PlanOutcome::Completed => new.faults(&self.spec.draft().nodes[place]),
            PlanOutcome::Failed | PlanOutcome::Blocked => Vec::new(),
        };
        let mut step = Step::new(self, at);
        step.finish_attempt(place, new, faults);
        Ok(step.end())
    }

    /// Returns what a pending node waits for.
    fn awaited(&self, place: usize) -> String {
        if self
            .approval
            .as_ref()
            .is_some_and(|approval| approval.answer.is_none())
        {
            return "the plan waits for the approval of a person".to_owned();
        }
        let draft = self.spec.draft();
        let open = draft.edges.iter().filter(|edge| {
            let before = self.spec.node(&edge.from);
            edge.to == draft.nodes[place].id
                && before.is_some_and(|(before, _)| !self.nodes[before].status.is_final())
        });
        let open: Vec<_> = open.map(|edge| format!("`{}`", edge.from)).collect();
        format!("it waits for {}", open.join(", "))
    }

    fn resume(&mut self, unresolved: &[String], at: Timestamp) -> Vec<PlanEvent> {
        let is_over = |place: &usize| {
            let running = self.nodes[*place].running();
            running.is_some_and(|attempt| attempt.lease_until <= at)
        };
        let over: Vec<usize> = (0..self.nodes.len()).filter(is_over).collect();
        if over.is_empty() {
            return Vec::new();
        }
        let mut step = Step::new(self, at);
        step.log(PlanEventKind::Resumed, None);
        for place in over {
            step.end_attempt(place, PlanAttemptStatus::Interrupted);
            let is_unresolved = unresolved.contains(&step.row.spec.draft().nodes[place].id);
            let status = if is_unresolved {
                PlanNodeStatus::Blocked
            } else {
                PlanNodeStatus::Ready
            };
            step.set(place, status);
        }
        step.end()
    }

    fn answer(
        &mut self,
        answer: &PlanAnswer,
        at: Timestamp,
    ) -> Result<Vec<PlanEvent>, PlanRefusal> {
        match &mut self.approval {
            Some(approval) if approval.answer.is_none() => approval.answer = Some(answer.clone()),
            _ => return Err(PlanRefusal::NotAwaited),
        }
        let mut step = Step::new(self, at);
        if answer.approved {
            step.log(PlanEventKind::Approved, None);
            return Ok(step.end());
        }
        step.log(PlanEventKind::Rejected, None);
        step.stop(PlanStatus::Aborted);
        Ok(step.finish())
    }
}
