//! One step of a run: status changes, the nodes that they make ready, the status of the run, and the events.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::store::Timestamp;

use super::PlanRow;
use super::change::{PlanOutcome, PlanSubmission};
use super::compile::PlanIssue;
use super::draft::{PlanEdge, PlanExecutor, PlanNodeKind, PlanOwner};
use super::state::{
    PlanAttempt, PlanAttemptStatus, PlanCheckpoint, PlanEvent, PlanEventKind, PlanNodeStatus,
    PlanStatus,
};

/// The state of an edge. The states of all edges to a node decide whether the node may begin.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Passage {
    /// The node before the edge is not done.
    Open,
    /// The node before the edge is completed, and is not a switch that chose a different edge.
    Passed,
    /// The node before the edge was skipped, or is a switch that chose a different edge.
    Closed,
}

/// One step of a run, with the time of the step.
pub(super) struct Step<'r> {
    pub(super) row: &'r mut PlanRow,
    at: Timestamp,
    events: Vec<PlanEvent>,
    /// Whether a node became final.
    has_settled: bool,
}

impl<'r> Step<'r> {
    pub(super) fn new(row: &'r mut PlanRow, at: Timestamp) -> Self {
        Self {
            row,
            at,
            events: Vec::new(),
            has_settled: false,
        }
    }

    /// Adds an event, and returns it to set its other fields.
    pub(super) fn log(&mut self, kind: PlanEventKind, node: Option<usize>) -> &mut PlanEvent {
        self.row.events += 1;
        let mut event = PlanEvent::new(self.row.events, kind, self.at);
        event.node = node.map(|node| self.row.spec.draft().nodes[node].id.clone());
        let last = self.events.len();
        self.events.push(event);
        &mut self.events[last]
    }

    /// Changes the status of a node.
    pub(super) fn set(&mut self, place: usize, status: PlanNodeStatus) {
        let node = &mut self.row.nodes[place];
        debug_assert!(
            node.status.may_become(status),
            "{} to {status}",
            node.status
        );
        node.status = status;
        self.has_settled |= status.is_final();
        let event = self.log(PlanEventKind::NodeStatus, Some(place));
        event.status = Some(status.as_str().to_owned());
    }

    fn set_run(&mut self, status: PlanStatus) {
        let before = self.row.status;
        if before == status {
            return;
        }
        debug_assert!(before.may_become(status), "{before} to {status}");
        self.row.status = status;
        let event = self.log(PlanEventKind::RunStatus, None);
        event.status = Some(status.as_str().to_owned());
    }

    /// Begins an attempt at a ready node.
    pub(super) fn begin(&mut self, place: usize, by: PlanOwner, lease_until: Timestamp) {
        let attempts = &mut self.row.nodes[place].attempts;
        let number = attempts.last().map_or(0, |last| last.number) + 1;
        attempts.push(PlanAttempt {
            number,
            status: PlanAttemptStatus::Running,
            by,
            started: self.at,
            lease_until,
            ended: None,
            issues: Vec::new(),
            notes: None,
            refused_output: None,
        });
        self.set(place, PlanNodeStatus::Running);
    }

    /// Ends the running attempt at a node, if it has one.
    pub(super) fn end_attempt(&mut self, place: usize, status: PlanAttemptStatus) {
        let at = self.at;
        let last = self.row.nodes[place].attempts.last_mut();
        let Some(last) = last.filter(|last| last.status == PlanAttemptStatus::Running) else {
            return;
        };
        (last.status, last.ended) = (status, Some(at));
        let number = last.number;
        let event = self.log(PlanEventKind::AttemptEnded, Some(place));
        (event.attempt, event.status) = (Some(number), Some(status.as_str().to_owned()));
    }

    /// Ends the running attempt at a node with its result. `faults` are the faults of a completed result.
    pub(super) fn finish_attempt(
        &mut self,
        place: usize,
        new: &PlanSubmission,
        faults: Vec<PlanIssue>,
    ) {
        if self.row.nodes[place].status == PlanNodeStatus::Ready {
            self.begin(place, new.by.clone(), self.at);
        }
        let is_faulty = !faults.is_empty();
        let node = &mut self.row.nodes[place];
        if let Some(attempt) = node.attempts.last_mut() {
            attempt.notes.clone_from(&new.notes);
            attempt.issues = faults;
            if is_faulty {
                attempt.refused_output.clone_from(&new.output);
            }
        }
        let most = self.row.spec.most_attempts();
        let (attempt, status) = match new.outcome {
            PlanOutcome::Blocked => (PlanAttemptStatus::Blocked, PlanNodeStatus::Blocked),
            PlanOutcome::Completed if !is_faulty => {
                node.output.clone_from(&new.output);
                node.artifacts.clone_from(&new.artifacts);
                (PlanAttemptStatus::Completed, PlanNodeStatus::Completed)
            }
            PlanOutcome::Completed if node.failed_attempts() + 1 < most => {
                (PlanAttemptStatus::Failed, PlanNodeStatus::Ready)
            }
            PlanOutcome::Completed | PlanOutcome::Failed => {
                (PlanAttemptStatus::Failed, PlanNodeStatus::Failed)
            }
        };
        self.end_attempt(place, attempt);
        self.set(place, status);
    }

    /// Ends the run, and skips the nodes that are not done.
    pub(super) fn stop(&mut self, status: PlanStatus) {
        for place in 0..self.row.nodes.len() {
            if !self.row.nodes[place].status.is_final() {
                self.end_attempt(place, PlanAttemptStatus::Interrupted);
                self.set(place, PlanNodeStatus::Skipped);
            }
        }
        self.set_run(status);
    }

    /// Completes the step: advances the nodes and the run, and returns the events.
    pub(super) fn end(mut self) -> Vec<PlanEvent> {
        self.advance();
        let has = |status| self.row.nodes.iter().any(|node| node.status == status);
        if has(PlanNodeStatus::Failed) {
            self.stop(PlanStatus::Failed);
        } else {
            let status = self.status();
            self.set_run(status);
        }
        self.finish()
    }

    /// Makes a checkpoint if nodes were settled, and returns the events.
    pub(super) fn finish(mut self) -> Vec<PlanEvent> {
        if self.has_settled {
            self.log(PlanEventKind::Checkpoint, None);
            let checkpoint = &mut self.row.checkpoint;
            *checkpoint = PlanCheckpoint {
                number: checkpoint.number + 1,
                event: self.row.events,
                at: self.at,
            };
        }
        self.row.updated = self.at;
        self.events
    }

    /// Returns the status of a run without failed nodes.
    fn status(&self) -> PlanStatus {
        let waits = self.row.approval.as_ref();
        if waits.is_some_and(|approval| approval.answer.is_none()) {
            return PlanStatus::AwaitingHuman;
        }
        let mut status = PlanStatus::Completed;
        let nodes = self.row.spec.draft().nodes.iter().zip(&self.row.nodes);
        for (node, run) in nodes {
            let owner = node.owner.as_ref();
            let is_of_person = owner.is_some_and(|owner| owner.executor == PlanExecutor::User);
            match run.status {
                PlanNodeStatus::Ready | PlanNodeStatus::Running if !is_of_person => {
                    return PlanStatus::Running;
                }
                PlanNodeStatus::Ready | PlanNodeStatus::Running => {
                    status = PlanStatus::AwaitingHuman;
                }
                PlanNodeStatus::Blocked if status == PlanStatus::Completed => {
                    status = PlanStatus::Blocked;
                }
                _ => {}
            }
        }
        status
    }

    /// Makes each pending node ready or skipped when all nodes before it are done, and runs the structural nodes that are ready.
    fn advance(&mut self) {
        let waits = self.row.approval.as_ref();
        if waits.is_some_and(|approval| approval.answer.is_none()) {
            return;
        }
        for at in 0..self.row.spec.order().len() {
            let place = self.row.spec.order()[at];
            if self.row.nodes[place].status == PlanNodeStatus::Pending {
                self.release(place);
            }
            let kind = self.row.spec.draft().nodes[place].kind;
            if kind != PlanNodeKind::Task && self.row.nodes[place].status == PlanNodeStatus::Ready {
                self.pass(place, kind);
            }
        }
    }

    fn release(&mut self, place: usize) {
        let node = &self.row.spec.draft().nodes[place];
        let passages: Vec<Passage> = self
            .edges_to(&node.id)
            .map(|(at, edge)| self.passage(at, edge))
            .collect();
        if passages.contains(&Passage::Open) {
            return;
        }
        let begins = match node.kind {
            PlanNodeKind::Join => passages.is_empty() || passages.contains(&Passage::Passed),
            _ => !passages.contains(&Passage::Closed),
        };
        let status = if begins {
            PlanNodeStatus::Ready
        } else {
            PlanNodeStatus::Skipped
        };
        self.set(place, status);
    }

    /// Runs a structural node.
    fn pass(&mut self, place: usize, kind: PlanNodeKind) {
        self.set(place, PlanNodeStatus::Running);
        if kind == PlanNodeKind::Switch {
            let chosen = self.choose(place);
            self.row.nodes[place].chosen = chosen;
            if chosen.is_none() {
                return self.set(place, PlanNodeStatus::Blocked);
            }
        }
        self.set(place, PlanNodeStatus::Completed);
    }

    /// Returns the edge that a switch chooses.
    fn choose(&self, place: usize) -> Option<usize> {
        let id = &self.row.spec.draft().nodes[place].id;
        let value = self.row.input(id);
        let edges = || {
            let edges = self.row.spec.draft().edges.iter().enumerate();
            edges.filter(|(_, edge)| edge.from == *id)
        };
        let met = |edge: &PlanEdge| edge.when.as_ref().is_some_and(|when| when.is_met(&value));
        let met = edges().find(|(_, edge)| met(edge));
        let chosen = met.or_else(|| edges().find(|(_, edge)| edge.when.is_none()));
        chosen.map(|(at, _)| at)
    }

    fn edges_to<'a>(&'a self, id: &'a str) -> impl Iterator<Item = (usize, &'a PlanEdge)> {
        let edges = self.row.spec.draft().edges.iter().enumerate();
        edges.filter(move |(_, edge)| edge.to == id)
    }

    fn passage(&self, at: usize, edge: &PlanEdge) -> Passage {
        let Some((from, _)) = self.row.spec.node(&edge.from) else {
            return Passage::Closed;
        };
        let node = &self.row.nodes[from];
        match node.status {
            PlanNodeStatus::Completed if node.chosen.is_none_or(|chosen| chosen == at) => {
                Passage::Passed
            }
            PlanNodeStatus::Completed | PlanNodeStatus::Skipped => Passage::Closed,
            _ => Passage::Open,
        }
    }
}

impl PlanRow {
    /// Returns the outputs that a node gets from the tasks before it. If exactly one edge leads to the node, and this edge comes from a task, the
    /// result is the output of that task, or null. Otherwise, the result is an object with the outputs of the nearest completed tasks before the
    /// node, by their ids.
    pub fn input(&self, node: &str) -> Value {
        let draft = self.spec.draft();
        let before = |id: &str| {
            let edges = draft.edges.iter().filter(|edge| edge.to == id);
            edges
                .filter_map(|edge| self.spec.node(&edge.from))
                .collect::<Vec<_>>()
        };
        let output = |place: usize| self.nodes[place].output.clone().unwrap_or_default();
        let first = before(node);
        if let [(place, task)] = first[..]
            && task.kind == PlanNodeKind::Task
        {
            return output(place);
        }
        let mut open = first;
        let (mut seen, mut outputs) = (BTreeSet::new(), Map::new());
        while let Some((place, node)) = open.pop() {
            if !seen.insert(place) || self.nodes[place].status != PlanNodeStatus::Completed {
                continue;
            }
            match node.kind {
                PlanNodeKind::Task => {
                    outputs.insert(node.id.clone(), output(place));
                }
                _ => open.extend(before(&node.id)),
            }
        }
        Value::Object(outputs)
    }
}
