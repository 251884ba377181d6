//! The rows of runs: to list, to read, and to cancel them.

use super::{TurnError, Turns};
use crate::store::{RunFilter, RunId, RunRow, RunStop, Scope, ThreadId};

/// What a user's message does to a run that is under way in its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Arrival {
    /// It waits (default): the run reads it with its next request, or, where it makes none any more, the next drive does.
    #[default]
    Wait,
    /// It interrupts the run, which ends with [`Outcome::Interrupted`](super::Outcome::Interrupted). A request to the model that is in
    /// flight is dropped. Calls that have begun end, and their results are stored; the others get a result that says that they were not
    /// run. The next drive reads the message.
    Interrupt,
}

impl Turns {
    /// What a message that [`say`](Self::say) or [`respond`](Self::respond) stores does to a run that is under way.
    #[must_use]
    pub fn arrival(mut self, arrival: Arrival) -> Self {
        self.arrival = arrival;
        self
    }

    /// Lists runs, the newest first. [`RunRow::cursor`] of the last one is where the next page begins.
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

    /// Reads the row of a run; `None` where there is no such run.
    pub async fn run_row(&self, id: &RunId) -> Result<Option<RunRow>, TurnError> {
        Ok(self.runs.get_run(id).await?)
    }

    /// Cancels a run, also one of another process, and returns its row; `None` where there is no such run. One that has ended stays as it
    /// is.
    ///
    /// A run that this value or a clone of it drives stops at once: the request to the model is dropped and calls are cancelled. A run
    /// elsewhere stops before its next step, or when it renews its lease, which is three times in a [`lease`](Self::lease).
    pub async fn cancel(&self, id: &RunId) -> Result<Option<RunRow>, TurnError> {
        let row = self.runs.stop_run(id, RunStop::Cancel).await?;
        if row.is_some() {
            self.live.stop(id, RunStop::Cancel);
        }
        Ok(row)
    }

    /// Asks the run of a thread to end because of a new message.
    pub(super) async fn interrupt(&self, thread: &ThreadId) -> Result<(), TurnError> {
        if let Some(run) = self.running(thread).await? {
            self.runs.stop_run(&run.id, RunStop::Interrupt).await?;
            self.live.stop(&run.id, RunStop::Interrupt);
        }
        Ok(())
    }
}
