//! Channel for the events of a running call, from the tool to its client.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::stream::Stream;
use serde_json::value::RawValue;

use crate::call::ToolEvent;

/// Maximum number of steps that have not been read yet.
const MOST_STEPS: usize = 256;
/// Maximum total size of the unread steps, in bytes. A single step may be longer.
const MOST_BYTES: usize = 1024 * 1024;

/// Creates the channel for the events of one call: the end that the call writes to, and the end that the client reads.
pub(crate) fn channel() -> (Reporter, Steps) {
    let shared = Arc::<Shared>::default();
    (Reporter(Arc::clone(&shared)), Steps(shared))
}

#[derive(Default)]
struct Shared(Mutex<Waiting>);

/// The events that have not been read yet.
#[derive(Default)]
struct Waiting {
    /// Whether `Started` was sent and has not been read yet. It is read before all steps.
    started: bool,
    steps: VecDeque<Box<RawValue>>,
    bytes: usize,
    reader: Option<Waker>,
    /// Bodies that wait until every step is read.
    bodies: Vec<Waker>,
    /// Whether the reader was dropped.
    left: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Removes the oldest step.
    fn shift(&mut self) -> Option<Box<RawValue>> {
        let step = self.steps.pop_front()?;
        self.bytes -= step.get().len();
        Some(step)
    }

    fn push(&mut self, step: Box<RawValue>) {
        self.bytes += step.get().len();
        self.steps.push_back(step);
        while self.steps.len() > 1 && (self.steps.len() > MOST_STEPS || self.bytes > MOST_BYTES) {
            self.shift();
        }
    }
}

/// The end of the channel that the call writes to.
#[derive(Clone)]
pub(crate) struct Reporter(Arc<Shared>);

impl Reporter {
    /// Sends `Started`, because the body begins.
    pub(super) fn started(&self) {
        let mut waiting = self.0.lock();
        waiting.started = true;
        wake(waiting);
    }

    /// Adds a step, and drops the oldest steps if too many wait or if they are too long in total. Returns false if the reader was dropped.
    pub(super) fn step(&self, step: Box<RawValue>) -> bool {
        let mut waiting = self.0.lock();
        if waiting.left {
            return false;
        }
        waiting.push(step);
        wake(waiting);
        true
    }

    /// Waits until every step is read or the reader is dropped.
    pub(super) async fn read(&self) {
        poll_fn(|cx| {
            let mut waiting = self.0.lock();
            if waiting.left || waiting.steps.is_empty() {
                return Poll::Ready(());
            }
            if !waiting.bodies.iter().any(|body| body.will_wake(cx.waker())) {
                waiting.bodies.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

fn wake(mut waiting: MutexGuard<'_, Waiting>) {
    let reader = waiting.reader.take();
    drop(waiting);
    if let Some(reader) = reader {
        reader.wake();
    }
}

/// The events of a call, in order. The stream never ends, so the reader has to stop when it has the result of the call.
pub(crate) struct Steps(Arc<Shared>);

impl Stream for Steps {
    type Item = ToolEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ToolEvent>> {
        let mut waiting = self.0.lock();
        if std::mem::take(&mut waiting.started) {
            return Poll::Ready(Some(ToolEvent::Started));
        }
        let Some(step) = waiting.shift() else {
            waiting.reader = Some(cx.waker().clone());
            return Poll::Pending;
        };
        let bodies = if waiting.steps.is_empty() {
            std::mem::take(&mut waiting.bodies)
        } else {
            Vec::new()
        };
        drop(waiting);
        bodies.into_iter().for_each(Waker::wake);
        Poll::Ready(Some(ToolEvent::Progress(step)))
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        waiting.left = true;
        waiting.steps.clear();
        waiting.bytes = 0;
        let bodies = std::mem::take(&mut waiting.bodies);
        drop(waiting);
        bodies.into_iter().for_each(Waker::wake);
    }
}
