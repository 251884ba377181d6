//! One drive of a claimed thread.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tool_core::store::{
    ChildKind, ChildRow, ChildState, EffectState, Timestamp, WorkOutcome, WorkRow,
};
use tool_core::turn::{Outcome, TurnError};
use tool_core::{CancellationToken, ToolContext};

use super::claim::Claim;
use super::{Inner, LONGEST_PAUSE};
use crate::runtime::{Barrier, Queued, RuntimeError};

impl Inner {
    /// Drives a claimed thread and releases it.
    pub(super) async fn job(&self, row: WorkRow, claim: Arc<Claim>, hand_back: &CancellationToken) {
        let drive = Box::pin(AssertUnwindSafe(self.outcome(&row, None)).catch_unwind());
        let drive = async {
            tokio::select! {
                biased;
                () = hand_back.cancelled() => WorkOutcome::Again(Duration::ZERO),
                done = drive => done.unwrap_or_else(|_| {
                    tracing::error!(thread = %row.thread, "the drive of a thread panicked");
                    self.failed(&row)
                }),
            }
        };
        match claim.during(drive).await {
            Some(outcome) => drop(claim.release(outcome).await),
            None => claim.forget(),
        }
    }

    /// Builds the context of a thread. Returns what happens to the thread if this fails.
    pub(super) async fn context(&self, row: &WorkRow) -> Result<ToolContext, WorkOutcome> {
        let cx = match (self.context)(row.clone()).await {
            Ok(cx) => cx,
            Err(error) => {
                tracing::warn!(thread = %row.thread, error = error.operator_text(), "the context of a thread could not be built");
                return Err(self.failed(row));
            }
        };
        if cx.thread().as_ref() != Some(&row.thread) {
            tracing::error!(thread = %row.thread, "the context of a thread names a different thread: use the workspace and the conversation of the row");
            return Err(WorkOutcome::Failed);
        }
        Ok(cx.derive().with(Queued).build())
    }

    /// Drives a thread to the end of its run, and returns how the thread is released. If there is a barrier, the run waits at it before each request.
    pub(super) async fn outcome(
        &self,
        row: &WorkRow,
        barrier: Option<&Arc<Barrier>>,
    ) -> WorkOutcome {
        let cx = match self.context(row).await {
            Ok(cx) => cx,
            Err(outcome) => return outcome,
        };
        let mut seen = Vec::new();
        loop {
            let agent = &row.agent.agent;
            let driven = self.runtime.drive_with(agent, &cx, barrier).await;
            let outcome = self.after(row, driven);
            if matches!(outcome, WorkOutcome::Again(_) | WorkOutcome::Retry(_)) {
                return outcome;
            }
            match self.children(&cx, &mut seen).await {
                Ok(Children::Ended) => return outcome,
                Ok(Children::Waited) => {}
                Ok(Children::Suspended(wait)) => return WorkOutcome::Again(rounded(wait)),
                Ok(Children::Stalled) => return WorkOutcome::Again(self.pause(0)),
                Err(error) => return self.after(row, Err(error)),
            }
        }
    }

    /// Waits until no sub-agent of the conversation runs in this process. `seen` has the rows of the sub-agents that were running after the last
    /// drive; it is empty before the first wait.
    async fn children(
        &self,
        cx: &ToolContext,
        seen: &mut Vec<ChildRow>,
    ) -> Result<Children, RuntimeError> {
        let mut running = self.runtime.children(cx).await?;
        running.retain(|child| {
            child.kind == ChildKind::Subagent && child.state == ChildState::Running
        });
        if running.is_empty() {
            return Ok(Children::Ended);
        }
        let threads: Vec<_> = running.iter().map(|child| child.thread.clone()).collect();
        let ran = self.runtime.wait_for_sessions(&threads).await;
        let waited = !seen.is_empty();
        // If no row has changed, the sessions have failed at once, for example because the process has no such agent. They would fail again after
        // each drive.
        let has_changed = *seen != running;
        *seen = running;
        if ran && has_changed {
            return Ok(Children::Waited);
        }
        Ok(match self.runtime.rest_of(&threads) {
            Some(wait) => Children::Suspended(wait),
            None if waited => Children::Stalled,
            None => Children::Waited,
        })
    }

    pub(super) fn after(
        &self,
        row: &WorkRow,
        driven: Result<Outcome, RuntimeError>,
    ) -> WorkOutcome {
        match driven {
            // The call still runs in a different process, or that process died and the lease of the call has not expired.
            Ok(Outcome::Unsettled(effect)) if effect.state == EffectState::Running => {
                let left = effect.intent.lease_until.as_millis() - Timestamp::now().as_millis();
                let left = Duration::from_millis(u64::try_from(left).unwrap_or_default());
                WorkOutcome::Again(self.poll.max(left / 3))
            }
            Ok(
                Outcome::Waiting(_)
                | Outcome::Client(_)
                | Outcome::Lacking(_)
                | Outcome::Unsettled(_),
            ) => WorkOutcome::Waiting,
            Ok(Outcome::Busy(_) | Outcome::Deadline | Outcome::Draining) => {
                WorkOutcome::Again(self.poll)
            }
            Ok(Outcome::Interrupted) => WorkOutcome::Again(Duration::ZERO),
            Ok(_) => WorkOutcome::Done,
            Err(RuntimeError::Turn(error)) if let Some(wait) = error.resumes_after() => {
                tracing::info!(thread = %row.thread, %error, ?wait, "the run of a thread is suspended");
                WorkOutcome::Again(rounded(wait))
            }
            Err(error) => {
                tracing::warn!(thread = %row.thread, %error, attempt = row.attempts + 1, "the run of a thread failed");
                match error {
                    RuntimeError::UnknownAgent { .. }
                    | RuntimeError::NameTaken { .. }
                    | RuntimeError::ChildThread(_)
                    | RuntimeError::UnknownChild(_)
                    | RuntimeError::Turn(
                        TurnError::Unreadable { .. }
                        | TurnError::PauseLimit { .. }
                        | TurnError::Unpriced,
                    ) => WorkOutcome::Failed,
                    // If the provider requested a wait, the next attempt does not begin before its end.
                    RuntimeError::Turn(TurnError::Model(error)) => match self.failed(row) {
                        WorkOutcome::Retry(pause) => {
                            let asked = error.wait().map(rounded).unwrap_or_default();
                            WorkOutcome::Retry(pause.max(asked))
                        }
                        outcome => outcome,
                    },
                    _ => self.failed(row),
                }
            }
        }
    }

    /// Returns the outcome of a failed attempt.
    pub(super) fn failed(&self, row: &WorkRow) -> WorkOutcome {
        if row.attempts.saturating_add(1) >= self.most_attempts {
            return WorkOutcome::Failed;
        }
        WorkOutcome::Retry(self.pause(row.attempts))
    }

    /// Returns the pause after a number of failed attempts.
    fn pause(&self, attempts: u32) -> Duration {
        let times = 1_u32.checked_shl(attempts).unwrap_or(LONGEST_PAUSE);
        self.retry.saturating_mul(times.min(LONGEST_PAUSE))
    }
}

/// Rounds a wait up, because the store rounds times down to milliseconds and the wait must not end too early.
fn rounded(wait: Duration) -> Duration {
    let millis = wait.as_nanos().div_ceil(1_000_000) + 1;
    Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
}

/// The state of a conversation's sub-agents after a drive.
enum Children {
    /// No sub-agent is running.
    Ended,
    /// The conversation is driven again, to read the outcomes of sub-agents and to continue the sub-agents whose process died.
    Waited,
    /// No sub-agent runs in this process, and the providers of some sub-agents requested waits. The field is the shortest wait.
    Suspended(Duration),
    /// No sub-agent runs in this process, but some have not ended after a second drive.
    Stalled,
}
