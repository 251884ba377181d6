//! The end of sub-agents by the host, and the removal of a conversation with everything below it.

use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::CancellationToken;
use tool_core::store::{
    ChildChange, ChildKind, ChildRow, ChildState, RunFilter, RunState, ThreadId, Timestamp,
};
use tool_core::turn::TurnError;
use tool_core::{ToolContext, ToolError};

use super::AgentRuntime;
use super::child::{fresh_run, unavailable};
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
        let standing = self.standing(0, &[]);
        let run = Run::new(self.clone(), cx.clone(), thread, None, None, 0, &standing);
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
            if changed.map_err(unavailable)?.is_none() {
                return Ok(());
            }
            let filter = RunFilter {
                conversation: Some(row.thread.conversation().to_owned()),
                state: Some(RunState::Running),
                ..RunFilter::default()
            };
            let runs = self.0.turns.runs(row.workspace(), &filter).await;
            for run in runs.map_err(unavailable)? {
                self.0.turns.cancel(&run.id).await.map_err(unavailable)?;
            }
            // The calls that wait get a result, and their approvals are withdrawn.
            if let Some(target) = self.index(&row.agent) {
                let stopped = CancellationToken::new();
                stopped.cancel();
                let base = self
                    .child_context(&parent.base, target, &row.thread)
                    .await?;
                let base = base.derive().cancellation(stopped).build();
                let above = parent.rules(parent.current());
                let run = fresh_run(self, base, row.clone(), target, Some(above));
                let run = Arc::new(run);
                // A run in another process writes the results itself.
                if let Err(error) = Box::pin(self.driven(&run, None)).await {
                    tracing::warn!(%error, thread = %row.thread, "the open calls of a terminated sub-agent have no results");
                }
                for child in self.children_of(&row.thread).await.map_err(unavailable)? {
                    self.end_child(&run, &child).await?;
                }
            }
            Ok(())
        })
    }
}
