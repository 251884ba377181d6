//! Runs of an agent loop: list, read, cancel and end them.

use super::{TurnError, Turns};
use crate::audit::Audit;
use crate::store::{
    AuditNote, AuditRow, CallId, RunCause, RunEnd, RunFilter, RunId, RunRow, RunState, RunStop,
    Scope, ThreadId, Timestamp,
};

/// The effect of a user's message on a current run of its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DuringRun {
    /// The message waits (default). The current run reads it with its next model request. If that run sends no more requests, the next drive reads
    /// it.
    #[default]
    Wait,
    /// The message interrupts the run, which ends with [`Outcome::Interrupted`](super::Outcome::Interrupted). A request to the model in flight is
    /// dropped. Calls that have begun run to their end, and their results are stored. The results of the other calls report that the calls were not
    /// run. The next drive reads the message.
    Interrupt,
}

impl Turns {
    /// Sets how a message that [`say`](Self::say) or [`respond`](Self::respond) stores affects a current run.
    #[must_use]
    pub fn during_run(mut self, during_run: DuringRun) -> Self {
        self.during_run = during_run;
        self
    }

    /// Lists runs, newest first. For the next page, set [`RunFilter::after`] to the [`RunRow::cursor`] of the last run.
    ///
    /// ```
    /// use tool_core::store::{MemoryStore, RunFilter, RunState, Workspace};
    /// use tool_core::turn::Turns;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tool_core::turn::TurnError> {
    /// let turns = Turns::new(MemoryStore::default());
    /// let acme = Workspace::new("acme");
    /// let running = RunFilter { state: Some(RunState::Running), limit: Some(20), ..RunFilter::default() };
    /// for run in turns.runs(&acme, &running).await? {
    ///     turns.cancel(&run.id).await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn runs<'a>(
        &'a self,
        scope: impl Into<Scope<'a>>,
        filter: &'a RunFilter,
    ) -> Result<Vec<RunRow>, TurnError> {
        Ok(self.runs.list_runs(scope.into(), filter).await?)
    }

    /// Returns the row of a run; `None` if the run does not exist.
    pub async fn run_row(&self, id: &RunId) -> Result<Option<RunRow>, TurnError> {
        Ok(self.runs.get_run(id).await?)
    }

    /// Cancels a run, even in another process, and returns its row; `None` if the run does not exist. A run that has ended is not changed.
    ///
    /// A run that this value or a clone of it drives stops at once: the request to the model is dropped and calls are cancelled. Any other run
    /// stops before its next step, or at the next renewal of its lease, a third of a [`lease`](Self::lease) after the last one.
    pub async fn cancel(&self, id: &RunId) -> Result<Option<RunRow>, TurnError> {
        let row = self.runs.stop_run(id, RunStop::Cancel).await?;
        if row.is_some() {
            self.live.stop(id, RunStop::Cancel);
        }
        Ok(row)
    }

    /// Ends a run regardless of its lease, and returns its row; `None` if the run does not exist. A run that has ended is not changed.
    ///
    /// Use it for a row whose state is `running` although its driver is dead: a driver whose clock was ahead may have set the end of the lease far in
    /// the future. The next drive continues from the thread. A driver that is still alive stops before its next step. The audit log, usually the
    /// gate's, gets a row with the operator and the reason. If the audit is required and that row cannot be written, the run is not ended.
    ///
    /// ```
    /// use tool_core::Audit;
    /// use tool_core::store::{MemoryStore, RunFilter, RunState, Workspace};
    /// use tool_core::turn::Turns;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), tool_core::turn::TurnError> {
    /// let store = MemoryStore::default();
    /// let (turns, audit) = (Turns::new(store.clone()), Audit::required(store));
    /// let running = RunFilter { state: Some(RunState::Running), ..RunFilter::default() };
    /// for run in turns.runs(&Workspace::new("acme"), &running).await? {
    ///     turns.force(&run.id, &audit, "olga", "the host is gone").await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn force(
        &self,
        id: &RunId,
        audit: &Audit,
        operator: &str,
        reason: &str,
    ) -> Result<Option<RunRow>, TurnError> {
        let Some(row) = self.runs.get_run(id).await? else {
            return Ok(None);
        };
        if row.state == RunState::Ended {
            return Ok(Some(row));
        }
        let details = serde_json::json!({
            "run": id.number(),
            "owner": row.owner,
            "lease_until": row.lease_until,
            "reason": reason,
        });
        let note = AuditRow {
            principal: Some(operator.to_owned()),
            thread: Some(id.thread().conversation().to_owned()),
            outcome: Some("ok".to_owned()),
            notes: vec![AuditNote {
                action: "run.force".to_owned(),
                details: details.to_string(),
            }],
            ..AuditRow::new(CallId::alone(id.workspace())?, "", "", Timestamp::now())
        };
        // The audit may be the host's own and not yet shielded, so this call turns a panic of its sink into an error.
        audit.clone().shielded().note(note).await?;
        self.end_of_other(&row).await?;
        Ok(self.runs.get_run(id).await?)
    }

    /// Ends a run of another driver, unless the run has a new owner.
    pub(super) async fn end_of_other(&self, row: &RunRow) -> Result<(), TurnError> {
        let end = RunEnd {
            cause: RunCause::Cancelled,
            at: Timestamp::now(),
            progress: row.progress,
        };
        self.runs.end_run(&row.id, &row.owner, end).await?;
        Ok(())
    }

    /// Requests that the thread's current run ends because of a new message.
    pub(super) async fn interrupt(&self, thread: &ThreadId) -> Result<(), TurnError> {
        if let Some(run) = self.running(thread).await? {
            self.runs.stop_run(&run.id, RunStop::Interrupt).await?;
            self.live.stop(&run.id, RunStop::Interrupt);
        }
        Ok(())
    }
}
