//! Termination of sub-agents by the host, and removal of a conversation with the threads below it.

use std::collections::HashSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::CancellationToken;
use tool_core::store::{
    CallPlace, ChildChange, ChildKind, ChildRow, ChildState, EndedSession, Message, ThreadId,
    Timestamp,
};
use tool_core::turn::{Outcome, TurnError};
use tool_core::{ToolContext, ToolError};

use super::AgentRuntime;
use super::child::unavailable;
use super::error::RuntimeError;
use super::prompt::BUSY;
use super::run::Run;

/// The states from which a child can be terminated.
const LIVE: [ChildState; 5] = [
    ChildState::Deferred,
    ChildState::Running,
    ChildState::Idle,
    ChildState::Failed,
    ChildState::AwaitingHuman,
];

/// Maximum number of checks whether a cancelled run has ended.
const MOST_ATTEMPTS: u32 = 10;

/// Returns whether a session of a child is in progress.
pub(super) fn is_active(row: &ChildRow) -> bool {
    matches!(row.state, ChildState::Running | ChildState::AwaitingHuman)
}

/// Returns the calls that have results.
pub(super) fn answered(messages: &[Message]) -> HashSet<CallPlace> {
    messages
        .iter()
        .filter_map(|message| message.answers)
        .collect()
}

impl AgentRuntime {
    /// Terminates a sub-agent of the conversation of the context, and the sub-agents below it, and returns its row. Its run is cancelled, each of its
    /// open calls gets a result that reports the cancellation, and it accepts no more messages. Its messages remain. A sub-agent that is
    /// terminated already is not changed.
    ///
    /// # Errors
    ///
    /// Fails if the context has no conversation, if the conversation has no sub-agent with this reference, and if a store fails.
    pub async fn terminate(
        &self,
        reference: &str,
        cx: &ToolContext,
    ) -> Result<ChildRow, RuntimeError> {
        let thread = cx.thread().ok_or(TurnError::Unnamed)?;
        let unknown = || RuntimeError::UnknownChild(reference.to_owned());
        let child = ThreadId::new(thread.workspace(), reference).map_err(|_| unknown())?;
        let row = self.store()?.child(&child).await?;
        let row = row
            .filter(|row| row.parent == thread && row.kind == ChildKind::Subagent)
            .ok_or_else(unknown)?;
        let caller = self.index(&row.caller).unwrap_or_default();
        let standing = self.standing(caller, &[]);
        let run = Run::new(
            self.clone(),
            cx.clone(),
            thread,
            None,
            None,
            caller,
            &standing,
        );
        self.end_child(&Arc::new(run), &row).await?;
        self.store()?.child(&child).await?.ok_or_else(unknown)
    }

    /// Terminates a child and the children below it.
    pub(super) fn end_child<'a>(
        &'a self,
        parent: &'a Arc<Run>,
        row: &'a ChildRow,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        // The future is boxed, because a child may have children.
        Box::pin(async move {
            let store = self.store()?;
            let change = ChildChange {
                session: row.session,
                from: LIVE.to_vec(),
                to: ChildState::Terminated,
                at: Timestamp::now(),
            };
            let changed = store.change_child(&row.thread, change).await;
            let changed = changed.map_err(unavailable)?.is_some();
            if let (Some(vault), Some(request)) = (&self.0.vault, &row.request) {
                let withdrawn = vault
                    .store()
                    .withdraw_request(row.workspace(), request)
                    .await;
                withdrawn.map_err(unavailable)?;
            }
            if row.kind == ChildKind::Subagent && changed {
                self.stop(&row.thread).await.map_err(unavailable)?;
            }
            // The calls that wait get a result, and their approvals are withdrawn.
            if let Some(target) = self.index(&row.agent) {
                let run = self.run_of(parent, row, target).await?;
                if changed {
                    // A run in another process writes the results itself.
                    self.write_cancellations(&run).await?;
                }
                for child in self.children_of(&row.thread).await.map_err(unavailable)? {
                    self.end_child(&run, &child).await?;
                }
            }
            Ok(())
        })
    }

    /// Writes a result for each open call of a thread whose run was cancelled. Returns `false` if a different drive of the thread has not ended, or if
    /// the drive fails, which is logged: then open calls may be without results.
    async fn write_cancellations(&self, run: &Run) -> Result<bool, ToolError> {
        let stopped = CancellationToken::new();
        stopped.cancel();
        let base = run.base.derive().cancellation(stopped).build();
        let stopped = Arc::new(Run::copy(run, base));
        for _ in 0..MOST_ATTEMPTS {
            match self.driven_apart(&stopped).await? {
                // A run that was dropped in this process ends shortly after.
                Ok(Outcome::Busy(_)) => tokio::time::sleep(BUSY).await,
                Ok(_) => return Ok(true),
                Err(error) => {
                    tracing::warn!(%error, thread = %run.thread, "the open calls of a cancelled agent have no results");
                    return Ok(false);
                }
            }
        }
        Ok(false)
    }

    /// Ends the sessions of the sub-agents whose calls were cancelled with the run of their parent.
    pub(super) fn cancel_below<'a>(
        &'a self,
        run: &'a Arc<Run>,
    ) -> BoxFuture<'a, Result<(), RuntimeError>> {
        // The future is boxed, because a child may have children.
        Box::pin(async move {
            let mut rows = self.children_of(&run.thread).await?;
            rows.retain(|row| row.kind == ChildKind::Subagent && row.waits && is_active(row));
            if rows.is_empty() {
                return Ok(());
            }
            let messages = self.0.turns.messages(&run.base, None).await?;
            let answered = answered(&messages);
            for row in rows {
                if row.call.is_some_and(|call| answered.contains(&call)) {
                    // If the session has not ended, the next run of the parent tries again.
                    self.cancel_session(run, &row).await?;
                }
            }
            Ok(())
        })
    }

    /// Ends the session of a child whose call or parent was cancelled: its open calls get results, and the outcome is not delivered. A child that is
    /// not resumable is terminated. Returns false if its open calls could not get results: then the session has not ended, because its next run would
    /// otherwise make these calls.
    pub(super) async fn cancel_session(
        &self,
        parent: &Arc<Run>,
        row: &ChildRow,
    ) -> Result<bool, ToolError> {
        if !row.resumable {
            return self.end_child(parent, row).await.map(|()| true);
        }
        self.stop(&row.thread).await.map_err(unavailable)?;
        if let Some(target) = self.index(&row.agent) {
            let run = self.run_of(parent, row, target).await?;
            if !self.write_cancellations(&run).await? {
                return Ok(false);
            }
        }
        let end = EndedSession {
            session: row.session,
            state: ChildState::Failed,
            read: None,
            message: None,
            at: Timestamp::now(),
        };
        let ended = self.store()?.end_session(&row.thread, end).await;
        ended.map(|_| true).map_err(unavailable)
    }
}
