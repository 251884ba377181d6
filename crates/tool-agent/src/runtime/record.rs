//! The events of a run in the store, where other processes read them.
//!
//! Messages of the model and results of calls are not stored again, because they are messages of the thread. Pieces and progress of the running step
//! are stored in batches, about [`STEP_BYTES`] at most for each step, and removed when the step has ended.

use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::{Either, FutureExt as _, select};
use tokio::sync::Notify;
use tool_core::store::{
    NewThreadEvent, NewThreadEvents, RunCause, RunFence, StoreError, ThreadEvent, ThreadEventStore,
    ThreadId,
};
use tool_core::turn::Turns;
use tool_store::env;

use super::event::{AgentEvent, AgentEventKind};
use super::run::Run;

/// The time between two batches of pieces of the running step.
const BATCH: Duration = Duration::from_millis(250);

/// Maximum number of bytes that the pieces of one step have in the store; the last stored piece may exceed it. Readers get the rest of the step with
/// its message.
pub(super) const STEP_BYTES: usize = 1024 * 1024;

/// Maximum number of bytes of text in one event. JSON escapes a byte with at most six.
const PIECE: usize = 8 * 1024;

/// Maximum number of bytes of an error text.
const ERROR: usize = 4 * 1024;

/// Returns whether an event belongs to the running step, and is removed when the step has ended.
fn is_transient(kind: &AgentEventKind) -> bool {
    matches!(
        kind,
        AgentEventKind::StepStarted { .. }
            | AgentEventKind::Reasoning { .. }
            | AgentEventKind::Text { .. }
            | AgentEventKind::CallStarted { .. }
            | AgentEventKind::CallArguments { .. }
            | AgentEventKind::StepRestarted
            | AgentEventKind::Progress { .. }
    )
}

/// Writes the events of the runs of one thread.
pub(super) struct Recorder {
    store: Arc<dyn ThreadEventStore>,
    thread: ThreadId,
    state: Mutex<State>,
    /// Wakes the writer of batches.
    arrived: Notify,
    /// Held during a write, so that events are stored in order.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    /// The run that this process drives; `None` before the run has begun, after its end was stored, and after a different process has taken it over.
    fence: Option<RunFence>,
    /// The start of the running step, until another event of the step or the next batch follows. The event of a short step is dropped with its message,
    /// and is never serialized.
    start: Option<AgentEvent>,
    /// The events that are not stored yet.
    pending: Vec<AgentEvent>,
    /// The number of bytes that may still be stored for the pieces of the step.
    left: usize,
    /// Whether pieces of the step may be in the store.
    has_pieces: bool,
    /// Whether the next write removes the stored pieces.
    ends_step: bool,
    /// Whether the end of the run was recorded.
    has_end: bool,
}

impl State {
    /// Subtracts the bytes of a piece from the limit. Returns false if the limit is reached; after that, no
    /// piece of the step is stored.
    fn spend(&mut self, bytes: usize) -> bool {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => self.left = 0,
        }
        self.left > 0
    }

    /// Adds an event whose size counts towards the step.
    fn push_piece(&mut self, event: AgentEvent) {
        let length = serde_json::to_string(&event).map_or(usize::MAX, |body| body.len());
        if length <= ThreadEvent::MOST_BYTES && self.spend(length) {
            self.pending.push(event);
        }
    }

    /// Adds the start of the running step, if it was not added yet.
    fn push_start(&mut self) {
        if let Some(start) = self.start.take() {
            self.push_piece(start);
        }
    }

    /// Adds a piece of text: to the last event if that event has the same kind and room for it, and otherwise in new events.
    fn push_delta(&mut self, event: &AgentEvent) {
        let Some((_, mut rest)) = delta_of(&event.kind) else {
            return;
        };
        while !rest.is_empty() && self.left > 0 {
            let last = self.pending.last_mut();
            let last = last.filter(|last| continues(&last.kind, &event.kind));
            let taken = last.as_ref().map_or(0, |last| {
                delta_of(&last.kind).map_or(0, |(_, delta)| delta.len())
            });
            let mut end = rest.len().min(PIECE.saturating_sub(taken));
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            let (piece, later) = rest.split_at(end);
            match last {
                Some(last) if !piece.is_empty() => {
                    let escaped =
                        serde_json::to_string(piece).map_or(usize::MAX, |json| json.len() - 2);
                    if let Some(text) = delta_mut(&mut last.kind) {
                        text.push_str(piece);
                    }
                    // The piece that exceeds the limit is stored completely.
                    self.spend(escaped);
                }
                _ => {
                    let mut event = event.clone();
                    if let Some(text) = delta_mut(&mut event.kind) {
                        text.clear();
                    }
                    self.push_piece(event);
                    continue;
                }
            }
            rest = later;
        }
    }

    fn drop_pieces(&mut self) {
        self.start = None;
        self.pending.retain(|event| !is_transient(&event.kind));
    }
}

/// Returns the text of a piece, and the id of the call if the piece belongs to the arguments of a call.
fn delta_of(kind: &AgentEventKind) -> Option<(Option<&str>, &str)> {
    match kind {
        AgentEventKind::Text { delta } | AgentEventKind::Reasoning { delta } => Some((None, delta)),
        AgentEventKind::CallArguments { id, delta } => Some((Some(id), delta)),
        _ => None,
    }
}

fn delta_mut(kind: &mut AgentEventKind) -> Option<&mut String> {
    match kind {
        AgentEventKind::Text { delta }
        | AgentEventKind::Reasoning { delta }
        | AgentEventKind::CallArguments { delta, .. } => Some(delta),
        _ => None,
    }
}

/// Returns whether a piece of text continues the last event and the event has room for it.
fn continues(last: &AgentEventKind, next: &AgentEventKind) -> bool {
    let (Some((call, text)), Some((next_call, _))) = (delta_of(last), delta_of(next)) else {
        return false;
    };
    last.name() == next.name() && call == next_call && text.len() + 4 <= PIECE
}

/// Returns the row of an event. A list of approvals or an error that is too long is shortened. `None` if the event is still too long.
fn row(mut event: AgentEvent) -> Option<NewThreadEvent> {
    if let AgentEventKind::RunEnded {
        error: Some(error), ..
    } = &mut event.kind
    {
        error.truncate(error.floor_char_boundary(ERROR));
    }
    loop {
        let body = serde_json::to_string(&event).ok()?;
        if body.len() <= ThreadEvent::MOST_BYTES {
            return Some(NewThreadEvent {
                kind: event.kind.name().to_owned(),
                version: event.version,
                body,
                transient: is_transient(&event.kind),
                at: event.at,
            });
        }
        match &mut event.kind {
            AgentEventKind::Waiting { approvals } if !approvals.is_empty() => {
                approvals.truncate(approvals.len() / 2);
            }
            kind => {
                tracing::warn!(kind = kind.name(), "an event is too long and is not stored");
                return None;
            }
        }
    }
}

impl Recorder {
    pub(super) fn new(store: &Arc<dyn ThreadEventStore>, thread: &ThreadId) -> Self {
        Self {
            store: Arc::clone(store),
            thread: thread.clone(),
            state: Mutex::default(),
            arrived: Notify::new(),
            writing: tokio::sync::Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether a piece of the model's message would be stored.
    pub(super) fn wants_pieces(&self) -> bool {
        let state = self.state();
        state.fence.is_some() && state.left > 0
    }

    /// Stores the beginning of a run, and removes the pieces of a step that a dead process stored.
    pub(super) async fn begin(&self, fence: RunFence, event: AgentEvent) {
        {
            let mut state = self.state();
            *state = State {
                fence: Some(fence),
                pending: vec![event],
                ends_step: true,
                start: None,
                left: STEP_BYTES,
                has_pieces: false,
                has_end: false,
            };
        }
        self.flush().await;
    }

    /// Adds an event of the run to the next batch.
    pub(super) fn take(&self, event: &AgentEvent) {
        let mut state = self.state();
        if state.fence.is_none() {
            return;
        }
        match &event.kind {
            // `begin` has stored this event.
            AgentEventKind::RunStarted => return,
            // The message of the thread replaces the pieces. The message is not stored yet, so the stored pieces are kept.
            AgentEventKind::Message { .. } => {
                state.drop_pieces();
                return;
            }
            AgentEventKind::Result { .. } => {
                if !state.has_pieces {
                    return;
                }
                state.ends_step = true;
            }
            AgentEventKind::StepStarted { .. } => {
                state.drop_pieces();
                state.ends_step |= state.has_pieces;
                state.left = STEP_BYTES;
                state.start = Some(event.clone());
            }
            AgentEventKind::StepRestarted => {
                let is_start =
                    |event: &AgentEvent| matches!(event.kind, AgentEventKind::StepStarted { .. });
                state
                    .pending
                    .retain(|event| !is_transient(&event.kind) || is_start(event));
                // Without stored pieces, readers have nothing to withdraw. Otherwise readers need this event, even if the limit of the step is
                // reached.
                if state.has_pieces && !state.ends_step {
                    state.pending.push(event.clone());
                }
            }
            kind if delta_of(kind).is_some() => {
                state.push_start();
                state.push_delta(event);
            }
            kind if is_transient(kind) => {
                state.push_start();
                state.push_piece(event.clone());
            }
            _ => {
                if matches!(event.kind, AgentEventKind::RunEnded { .. }) {
                    state.drop_pieces();
                    state.ends_step |= state.has_pieces;
                    state.has_end = true;
                }
                state.push_start();
                state.pending.push(event.clone());
            }
        }
        drop(state);
        self.arrived.notify_one();
    }

    /// Returns the events to write now, if there are any.
    fn batch(&self) -> Option<NewThreadEvents> {
        let mut state = self.state();
        let fence = state.fence.clone()?;
        state.push_start();
        if state.pending.is_empty() && !state.ends_step {
            return None;
        }
        let ends_step = std::mem::take(&mut state.ends_step);
        let pending = std::mem::take(&mut state.pending);
        let events: Vec<NewThreadEvent> = pending.into_iter().filter_map(row).collect();
        state.has_pieces &= !ends_step;
        state.has_pieces |= events.iter().any(|event| event.transient);
        Some(NewThreadEvents {
            thread: self.thread.clone(),
            fence: Some(fence),
            ends_step,
            events,
        })
    }

    /// Waits for a write in progress, and then stores the waiting events.
    pub(super) async fn flush(&self) {
        let _writing = self.writing.lock().await;
        let Some(batch) = self.batch() else {
            return;
        };
        let mut written = self.store.append_events(batch.clone()).await;
        if matches!(written, Err(StoreError::Unavailable(_))) {
            written = self.store.append_events(batch).await;
        }
        match written {
            Ok(_) => {}
            Err(StoreError::Conflict(why)) => {
                self.state().fence = None;
                tracing::debug!(why, "the events of a run are not stored any more");
            }
            Err(error) => {
                // The pieces of the batch are lost. Pieces that are stored later would not continue the stored pieces.
                let mut state = self.state();
                (state.left, state.has_pieces, state.ends_step) = (0, true, true);
                tracing::warn!(%error, thread = %self.thread, "events of a run were not stored");
            }
        }
    }

    /// Stores the waiting events, and ignores further events until the next run begins.
    pub(super) async fn end(&self) {
        self.flush().await;
        self.state().fence = None;
    }

    /// Stores an event of a child thread, which may happen after the run of its parent has ended.
    pub(super) async fn append(&self, event: AgentEvent) {
        let _writing = self.writing.lock().await;
        let events = NewThreadEvents {
            thread: self.thread.clone(),
            fence: None,
            ends_step: false,
            events: row(event).into_iter().collect(),
        };
        if let Err(error) = self.store.append_events(events).await {
            tracing::warn!(%error, thread = %self.thread, "an event of a child thread was not stored");
        }
    }

    /// Polls a future, and meanwhile stores the events that it emits in batches.
    pub(super) async fn during<R>(&self, body: impl Future<Output = R>) -> R {
        let mut body = pin!(body);
        loop {
            let batch = pin!(async {
                self.arrived.notified().await;
                tokio::time::sleep(BATCH).await;
            });
            match select(body.as_mut(), batch).await {
                Either::Left((done, _)) => return done,
                Either::Right(((), _)) => match select(body.as_mut(), pin!(self.flush())).await {
                    // The write is not dropped, because the store may already have applied it.
                    Either::Left((done, write)) => {
                        write.await;
                        return done;
                    }
                    Either::Right(((), _)) => {}
                },
            }
        }
    }
}

/// Records the events of a run while it is driven. If this value is dropped before the end of the run, the run is recorded as cancelled.
pub(super) struct Recording {
    recorder: Arc<Recorder>,
    run: Arc<Run>,
    has_ended: bool,
}

impl Recording {
    pub(super) fn new(recorder: Arc<Recorder>, run: &Arc<Run>) -> Self {
        Self {
            recorder,
            run: Arc::clone(run),
            has_ended: false,
        }
    }

    /// Returns `turns` with a callback that stores the beginning of each run.
    pub(super) fn of(&self, turns: Turns) -> Turns {
        let (recorder, run) = (Arc::clone(&self.recorder), Arc::clone(&self.run));
        turns.on_begin(move |fence| {
            let recorder = Arc::clone(&recorder);
            let event = run.event(AgentEventKind::RunStarted);
            async move { recorder.begin(fence, event).await }.boxed()
        })
    }

    pub(super) async fn end(mut self) {
        self.recorder.end().await;
        self.has_ended = true;
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        if !self.recorder.state().has_end {
            // The run was dropped, for example because the client disconnected. The row of the run is marked as cancelled, too.
            self.recorder
                .take(&self.run.event(AgentEventKind::RunEnded {
                    cause: RunCause::Cancelled.as_str().to_owned(),
                    error: None,
                }));
        }
        let recorder = Arc::clone(&self.recorder);
        env::spawn(async move { recorder.end().await });
    }
}
