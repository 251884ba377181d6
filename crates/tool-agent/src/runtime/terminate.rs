//! The end of sub-agents by the host, and the removal of a conversation with everything below it.

use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::CancellationToken;
use tool_core::store::{
    ChildChange, ChildKind, ChildRow, ChildState, EndedSession, RunFilter, RunState, ThreadId,
    Timestamp,
};
use tool_core::turn::TurnError;
use tool_core::{ToolContext, ToolError};

use super::AgentRuntime;
use super::child::unavailable;
use super::error::RuntimeError;
use super::run::Run;

/// The states from which a child can be terminated.
const LIVE: [ChildState; 5] = [
    ChildState::Deferred,
    ChildState::Running,
    ChildState::Idle,
    ChildState::Failed,
    ChildState::AwaitingHuman,
];

impl AgentRuntime {
    /// Terminates a sub-agent of the conversation of the context, and the sub-agents below it, and returns its row. Its run is cancelled, each of its
    /// open calls gets a result that reports the cancellation, and it accepts no more messages. Its messages remain. A sub-agent that is
    /// terminated already is not changed.
    ///
    /// # Errors
    ///
    /// Fails if the conversation has no sub-agent with this reference, and if a store fails.
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
                self.stop_runs(row).await?;
            }
            // The calls that wait get a result, and their approvals are withdrawn.
            if let Some(target) = self.index(&row.agent) {
                let run = self.run_of(parent, row, target).await?;
                if changed {
                    let stopped = CancellationToken::new();
                    stopped.cancel();
                    let base = run.base.derive().cancellation(stopped).build();
                    let stopped = Arc::new(Run::copy(&run, base));
                    // A run in another process writes the results itself.
                    if let Err(error) = self.driven_apart(&stopped).await? {
                        tracing::warn!(%error, thread = %row.thread, "the open calls of a terminated sub-agent have no results");
                    }
                }
                for child in self.children_of(&row.thread).await.map_err(unavailable)? {
                    self.end_child(&run, &child).await?;
                }
            }
            Ok(())
        })
    }

    /// Cancels the runs of a thread.
    async fn stop_runs(&self, row: &ChildRow) -> Result<(), ToolError> {
        let filter = RunFilter {
            conversation: Some(row.thread.conversation().to_owned()),
            state: Some(RunState::Running),
            ..RunFilter::default()
        };
        let runs = self.0.turns.runs(row.workspace(), &filter).await;
        for run in runs.map_err(unavailable)? {
            self.0.turns.cancel(&run.id).await.map_err(unavailable)?;
        }
        Ok(())
    }

    /// Ends the session of a child whose call was cancelled: its open calls get results, and the outcome is not delivered.
    pub(super) async fn cancel_session(
        &self,
        parent: &Arc<Run>,
        row: &ChildRow,
    ) -> Result<(), ToolError> {
        if !row.resumable {
            return self.end_child(parent, row).await;
        }
        self.stop_runs(row).await?;
        if let Some(target) = self.index(&row.agent) {
            let run = self.run_of(parent, row, target).await?;
            let stopped = CancellationToken::new();
            stopped.cancel();
            let base = run.base.derive().cancellation(stopped).build();
            let stopped = Arc::new(Run::copy(&run, base));
            if let Err(error) = self.driven_apart(&stopped).await? {
                tracing::warn!(%error, thread = %row.thread, "the open calls of a cancelled sub-agent have no results");
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
        ended.map(drop).map_err(unavailable)
    }
}
