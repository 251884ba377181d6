//! The lease of a driver on its run, and the reasons why a run stops.

use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::future::{Either, select};
use tokio_util::sync::CancellationToken;

use super::{TurnError, Turns};
use crate::context::ToolContext;
use crate::env;
use crate::store::{
    Batch, EndedRun, Journal, NewMessage, NewRun, RunBegun, RunCause, RunEnd, RunFence, RunFilter,
    RunId, RunProgress, RunRow, RunState, RunStop, RunStore, Scope, StoreError, ThreadId,
    Timestamp, Usage,
};
use crate::toolset::Toolset;

/// Interval at which a run checks during a model request whether the host drains, because a drain does not notify the run.
const DRAIN_POLL: Duration = Duration::from_millis(100);

/// The reason why a run stops before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// A different driver has taken over or ended the run, or the store no longer contains the run.
    Lost,
    Cancelled,
    Interrupted,
    Deadline,
    Draining,
}

impl Halt {
    /// Returns the error texts for calls that have no result yet; `None` if these calls stay open for the next run.
    ///
    /// The first text is for a call that has not run, and the second for a call for which no store records whether it has begun. The third ends the
    /// error text of a call whose nested calls have run in part.
    pub(super) fn refuses_calls(self) -> Option<[&'static str; 3]> {
        match self {
            Self::Cancelled => Some([
                "the turn was stopped before this call",
                "the turn was stopped before this call ended",
                "the turn was stopped",
            ]),
            Self::Interrupted => Some([
                "a new message of the user arrived before this call, so it was not run; call it again if it is still wanted",
                "a new message of the user arrived before this call ended; call it again if it is still wanted",
                "a new message of the user arrived",
            ]),
            Self::Lost | Self::Deadline | Self::Draining => None,
        }
    }
}

/// The runs that the clones of one [`Turns`] drive now, so that a request to stop is passed to them at once.
#[derive(Clone, Default)]
pub(super) struct Live(Arc<Mutex<HashMap<RunId, Weak<Inner>>>>);

impl Live {
    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Weak<Inner>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a request to stop to the driver of the run, if a clone of the same [`Turns`] drives it.
    pub(super) fn stop(&self, id: &RunId, stop: RunStop) {
        let held = self.lock().get(id).and_then(Weak::upgrade);
        if let Some(held) = held {
            held.obey(stop);
        }
    }
}

/// The result of an attempt to begin a run.
pub(super) enum Hold {
    Mine(Held),
    Busy(RunId),
}

/// A run that this process drives. If it is dropped before its end, the run ends as cancelled.
pub(super) struct Held {
    inner: Arc<Inner>,
    live: Live,
    ended: bool,
}

struct Inner {
    runs: Arc<dyn RunStore>,
    id: RunId,
    owner: String,
    term: Duration,
    /// Cancels the calls of the run.
    calls: CancellationToken,
    /// Ends a model request that is in flight.
    halted: CancellationToken,
    state: Mutex<State>,
}

struct State {
    /// The time at which the lease has to be renewed.
    renew_at: Timestamp,
    progress: RunProgress,
    halt: Option<Halt>,
}

impl Turns {
    /// Begins a run of a thread.
    pub(super) async fn hold(&self, thread: ThreadId, cx: &ToolContext) -> Result<Hold, TurnError> {
        let new = self.new_run(thread, cx);
        let begun = match self.runs.begin_run(new.clone()).await {
            // The store may have begun the run although its response was lost. The owner is the same, so the run does not begin twice.
            Err(StoreError::Unavailable(_)) => self.runs.begin_run(new.clone()).await?,
            begun => begun?,
        };
        self.held(begun, new, cx).await
    }

    /// Stores a message and begins a run of its thread, in one transaction.
    pub(super) async fn hold_with(
        &self,
        message: NewMessage,
        journal: &Journal,
        cx: &ToolContext,
    ) -> Result<Hold, TurnError> {
        let new = self.new_run(message.thread.clone(), cx);
        let batch = Batch {
            message: Some(message),
            begin: Some(new.clone()),
            ..Batch::default()
        };
        let begun = match journal.write(batch).await {
            Ok(done) => done.begun,
            // The store may have begun the run although its response was lost. In that case, the message is stored and must not be stored twice.
            Err(error @ StoreError::Unavailable(_)) => match self.running(&new.thread).await {
                Ok(Some(row)) if row.owner == new.owner => Some(RunBegun::Begun(Box::new(row))),
                _ => return Err(error.into()),
            },
            Err(error) => return Err(error.into()),
        };
        let begun = begun.ok_or_else(|| {
            StoreError::Corrupt("the store wrote a batch without beginning its run".to_owned())
        })?;
        self.held(begun, new, cx).await
    }

    /// Returns the row of the thread's current run, if there is one.
    pub(super) async fn running(&self, thread: &ThreadId) -> Result<Option<RunRow>, StoreError> {
        let running = RunFilter {
            conversation: Some(thread.conversation().to_owned()),
            state: Some(RunState::Running),
            limit: Some(1),
            ..RunFilter::default()
        };
        let scope = Scope::Workspace(thread.workspace());
        Ok(self.runs.list_runs(scope, &running).await?.pop())
    }

    fn new_run(&self, thread: ThreadId, cx: &ToolContext) -> NewRun {
        let now = Timestamp::now();
        NewRun {
            thread,
            principal: cx.user().map(str::to_owned),
            agent: cx.agent().map(str::to_owned),
            owner: env::token(),
            at: now,
            lease_until: now.plus(self.lease),
        }
    }

    /// Handles the store's response to a new run. If the driver of the current run counts as dead, ends that run, so that the new run can begin.
    async fn held(
        &self,
        mut begun: RunBegun,
        new: NewRun,
        cx: &ToolContext,
    ) -> Result<Hold, TurnError> {
        if let RunBegun::Busy(row) = &begun
            && self.watch.is_given_up(row, new.at, self.lease)
        {
            tracing::warn!(
                run = %row.id,
                "ending the run as cancelled: its lease ends too late, so a clock is wrong, and no driver has renewed the lease for a whole lease term"
            );
            self.end_of_other(row).await?;
            begun = self.runs.begin_run(new.clone()).await?;
        }
        let row = match begun {
            RunBegun::Begun(row) => *row,
            RunBegun::Busy(row) => return Ok(Hold::Busy(row.id)),
        };
        let calls = cx
            .cancellation()
            .map_or_else(CancellationToken::new, CancellationToken::child_token);
        let inner = Arc::new(Inner {
            runs: Arc::clone(&self.runs),
            id: row.id,
            owner: new.owner,
            term: self.lease,
            calls,
            halted: CancellationToken::new(),
            state: Mutex::new(State {
                renew_at: new.at.plus(self.lease / 3),
                progress: row.progress,
                halt: None,
            }),
        });
        let live = self.live.clone();
        live.lock().insert(inner.id.clone(), Arc::downgrade(&inner));
        Ok(Hold::Mine(Held {
            inner,
            live,
            ended: false,
        }))
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn obey(&self, stop: RunStop) {
        let halt = match stop {
            RunStop::Cancel => Halt::Cancelled,
            RunStop::Interrupt => Halt::Interrupted,
        };
        let mut state = self.state();
        // A cancellation replaces an interruption. No reason replaces the loss of the run.
        if state.halt.is_none() || (state.halt, halt) == (Some(Halt::Interrupted), Halt::Cancelled)
        {
            state.halt = Some(halt);
        }
        drop(state);
        if halt == Halt::Cancelled {
            self.calls.cancel();
        }
        self.halted.cancel();
    }

    /// Updates this run from the stored row.
    fn learn(&self, row: Option<RunRow>) {
        match row {
            Some(row) if row.state == RunState::Running && row.owner == self.owner => {
                if let Some(stop) = row.stop {
                    self.obey(stop);
                }
            }
            _ => {
                self.state().halt = Some(Halt::Lost);
                self.halted.cancel();
            }
        }
    }

    async fn renew(&self) -> Result<(), StoreError> {
        let now = Timestamp::now();
        let until = now.plus(self.term);
        let progress = self.state().progress;
        let renewed = self.runs.renew_run(&self.id, &self.owner, until, progress);
        let row = renewed.await?;
        self.learn(row);
        self.state().renew_at = now.plus(self.term / 3);
        Ok(())
    }

    fn ending(&self, cause: RunCause) -> EndedRun {
        EndedRun {
            id: self.id.clone(),
            owner: self.owner.clone(),
            end: RunEnd {
                cause,
                at: Timestamp::now(),
                progress: self.state().progress,
            },
        }
    }

    async fn end(&self, cause: RunCause) {
        let end = self.ending(cause).end;
        for last in [false, true] {
            match self.runs.end_run(&self.id, &self.owner, end).await {
                Err(StoreError::Unavailable(_)) if !last => {}
                // Another driver can take over the run after its lease expires.
                Err(error) => {
                    tracing::warn!(%error, run = %self.id, "the end of a run could not be stored");
                    return;
                }
                Ok(_) => return,
            }
        }
    }
}

impl Held {
    pub(super) fn id(&self) -> &RunId {
        &self.inner.id
    }

    /// Returns the condition for the writes of this driver.
    pub(super) fn fence(&self) -> RunFence {
        RunFence {
            id: self.inner.id.clone(),
            owner: self.inner.owner.clone(),
        }
    }

    /// Returns the context for the calls of the run, so that cancelling the run cancels them.
    pub(super) fn context(&self, cx: &ToolContext) -> ToolContext {
        cx.with_cancellation(self.inner.calls.clone())
    }

    pub(super) fn usage(&self) -> Usage {
        self.inner.state().progress.usage
    }

    /// Counts a model request and its tokens.
    pub(super) fn count(&self, usage: Option<Usage>) {
        let progress = &mut self.inner.state().progress;
        progress.steps = progress.steps.saturating_add(1);
        progress.usage += usage.unwrap_or_default();
        if usage.is_none() {
            progress.unmeasured = progress.unmeasured.saturating_add(1);
        }
    }

    /// Adds the tokens of a request without a message to the usage of the run.
    pub(super) fn spend(&self, usage: Option<Usage>) {
        self.inner.state().progress.usage += usage.unwrap_or_default();
    }

    /// Runs a future, and renews the lease three times in each lease term until the future completes.
    pub(super) async fn during<R>(&self, body: impl Future<Output = R>) -> R {
        let mut body = pin!(body);
        loop {
            let pause = pin!(tokio::time::sleep(self.inner.term / 3));
            match select(body.as_mut(), pause).await {
                Either::Left((done, _)) => return done,
                Either::Right(((), _)) => {
                    // The future is polled as well, so that it does not wait for a slow store.
                    match select(body.as_mut(), pin!(self.inner.renew())).await {
                        Either::Left((done, _)) => return done,
                        Either::Right((Ok(()), _)) => {}
                        Either::Right((Err(error), _)) => {
                            tracing::warn!(%error, run = %self.inner.id, "the lease of a run could not be renewed");
                        }
                    }
                }
            }
        }
    }

    /// Returns why the run has to stop, if this process or the store requires it. The drive calls this before each request and before calls.
    pub(super) async fn check(
        &self,
        cx: &ToolContext,
        tools: &Toolset,
    ) -> Result<Option<Halt>, TurnError> {
        if Timestamp::now() >= self.inner.state().renew_at {
            self.inner.renew().await?;
        } else {
            let row = self.inner.runs.get_run(&self.inner.id).await?;
            self.inner.learn(row);
        }
        Ok(self.halt(cx, tools))
    }

    /// Returns why the run has to stop, if this process requires it.
    pub(super) fn halt(&self, cx: &ToolContext, tools: &Toolset) -> Option<Halt> {
        let known = self.inner.state().halt;
        if known == Some(Halt::Lost) {
            return known;
        }
        if cx
            .cancellation()
            .is_some_and(CancellationToken::is_cancelled)
        {
            return Some(Halt::Cancelled);
        }
        if known.is_some() {
            return known;
        }
        if cx.remaining().is_some_and(|left| left.is_zero()) {
            return Some(Halt::Deadline);
        }
        let draining = tools.gate().is_some_and(crate::gate::Gate::is_draining);
        draining.then_some(Halt::Draining)
    }

    /// Waits until the run has to stop.
    pub(super) async fn halted(&self, cx: &ToolContext, tools: &Toolset) -> Halt {
        loop {
            if let Some(halt) = self.halt(cx, tools) {
                return halt;
            }
            let halted = pin!(self.inner.halted.cancelled());
            let cancelled = pin!(cx.cancelled());
            let either = select(halted, cancelled);
            if tools.gate().is_some() {
                let _ = tokio::time::timeout(DRAIN_POLL, either).await;
            } else {
                either.await;
            }
        }
    }

    /// Returns the end of the run as part of a batch.
    pub(super) fn ending(&self, cause: RunCause) -> EndedRun {
        self.inner.ending(cause)
    }

    /// Stores the end of the run. Changes nothing in the store if the end was stored with the last message.
    pub(super) async fn end(mut self, cause: RunCause) {
        self.inner.end(cause).await;
        self.ended = true;
    }

    /// Drops a run that a different driver has taken over, without ending it.
    pub(super) fn forget(mut self) {
        self.ended = true;
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.live.lock().remove(&self.inner.id);
        if !self.ended {
            // The run was dropped, for example because the client disconnected. The next drive must not wait for the lease.
            let inner = Arc::clone(&self.inner);
            env::spawn(async move { inner.end(RunCause::Cancelled).await });
        }
    }
}
