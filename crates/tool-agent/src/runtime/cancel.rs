//! The cancellation of a conversation, in any state.

use std::sync::Arc;

use tool_core::store::{ChildKind, ChildState, RunCause, RunFilter, RunId, RunState, ThreadId};
use tool_core::turn::{Outcome, TurnError};
use tool_core::{CancellationToken, ErrorKind, ToolContext, ToolError};

use super::AgentRuntime;
use super::begun::Start;
use super::error::RuntimeError;
use super::run::Run;

/// The states of a sub-agent that has work to cancel.
const UNFINISHED: [ChildState; 3] = [
    ChildState::Deferred,
    ChildState::Running,
    ChildState::AwaitingHuman,
];

impl AgentRuntime {
    /// Cancels the work of the conversation of the context, in any state.
    ///
    /// An active run stops, even in another process, as [`Turns::cancel`](tool_core::turn::Turns::cancel) describes. The open calls of a run that
    /// waits get results that report the cancellation, and their approvals are withdrawn. Sub-agents whose session has not ended are cancelled in the
    /// same way; sub-agents that are not resumable are terminated. The messages remain: a message that the model has not read is read after the next
    /// message of the user.
    ///
    /// Returns [`Outcome::Busy`] if an active run has not stopped yet. Call `cancel` again until the run has stopped: if the process of that run is
    /// dead, its calls get their results only after the end of its lease. If the model has answered the last message, the outcome is that answer.
    ///
    /// # Errors
    ///
    /// Fails if the runtime has no such agent, if the context has no conversation, if a store fails, and if the session of a sub-agent could not be
    /// ended: then call `cancel` again, because the session would continue.
    pub async fn cancel(&self, agent: &str, cx: &ToolContext) -> Result<Outcome, RuntimeError> {
        let first = self.known(agent)?;
        let thread = cx.thread().ok_or(TurnError::Unnamed)?;
        self.stop(&thread).await?;
        let messages = self.0.turns.messages(cx, None).await?;
        let standing = self.standing(first, &messages);
        let stopped = CancellationToken::new();
        stopped.cancel();
        let base = cx.derive().agent(self.entry(standing.next).name());
        let base = base.cancellation(stopped).build();
        let run = Run::new(self.clone(), base, thread, None, None, first, &standing);
        let run = Arc::new(run);
        let outcome = self.driven(&run, Start::Stored, None).await?;
        let mut are_ended = true;
        for child in self.children_of(&run.thread).await? {
            if child.kind == ChildKind::Subagent && UNFINISHED.contains(&child.state) {
                are_ended &= self.cancel_session(&run, &child).await?;
            }
        }
        // A session in the background would continue with the next run of the conversation.
        if !are_ended {
            let text =
                "the session of a sub-agent could not be ended; cancel the conversation again";
            return Err(ToolError::of(ErrorKind::Unavailable, text).into());
        }
        Ok(outcome)
    }

    /// Requests that the active run of a thread stops. Returns its id; `None` if there is none.
    pub(crate) async fn stop(&self, thread: &ThreadId) -> Result<Option<RunId>, RuntimeError> {
        let filter = RunFilter {
            conversation: Some(thread.conversation().to_owned()),
            state: Some(RunState::Running),
            ..RunFilter::default()
        };
        let runs = self.0.turns.runs(thread.workspace(), &filter).await?;
        for run in &runs {
            self.0.turns.cancel(&run.id).await?;
        }
        Ok(runs.into_iter().next().map(|run| run.id))
    }

    /// Returns whether the process that drives a run has stopped it. If that process is dead, the next process ends the run when the lease has
    /// expired, and continues the conversation.
    pub(crate) async fn has_stopped(&self, run: &RunId) -> Result<bool, RuntimeError> {
        let row = self.0.turns.run_row(run).await?;
        Ok(row.is_some_and(|row| {
            let in_lease = row.ended.is_some_and(|ended| ended < row.lease_until);
            in_lease && row.cause == Some(RunCause::Cancelled)
        }))
    }
}
