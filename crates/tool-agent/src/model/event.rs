//! Events of a request to a model.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tool_core::{Effect, FromContext, ToolContext, ToolError};
use tool_wire::Delta;

use super::ModelError;

/// A host's function that receives the events.
pub(super) type Observer = dyn Fn(&ModelEvent<'_>) + Send + Sync;

/// A function that receives the events of all requests that are made with a context, as a host value. It is called in addition to the observer of the
/// model, so several conversations can share one model and have their own observers.
///
/// ```
/// use tool_agent::model::{ModelEvent, ModelObserver};
/// use tool_core::ToolContext;
/// use tool_wire::Delta;
///
/// let observer = ModelObserver::new(|event| {
///     if let ModelEvent::Delta(Delta::Text(text)) = event {
///         print!("{text}");
///     }
/// });
/// let cx = ToolContext::builder().workspace("acme").conversation("main").with(observer).build();
/// # let _ = cx;
/// ```
#[derive(Clone)]
pub struct ModelObserver(Arc<Observer>);

impl ModelObserver {
    /// Creates an observer from a function. The task of the run calls it, so it must not block.
    pub fn new(observer: impl Fn(&ModelEvent<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(observer))
    }

    /// Passes an event to the function. The models of this crate call it for each event. A [`Model`](tool_core::turn::Model) of the host should get
    /// the observer of a request with [`ToolContext::get`], and call it for each piece of the reply.
    pub fn call(&self, event: &ModelEvent<'_>) {
        (self.0)(event);
    }
}

impl FromContext for ModelObserver {
    const EFFECT: Effect = Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the observer of models"))
    }
}

impl fmt::Debug for ModelObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ModelObserver(…)")
    }
}

/// The pieces of a reply that the guardrails have not accepted yet, as a host value of the request.
#[derive(Clone)]
pub(crate) struct Unchecked(Arc<Mutex<Pieces>>);

struct Pieces {
    /// Whether the pieces are buffered until the reply is accepted.
    holds: bool,
    held: Vec<Delta>,
    /// Whether the observers received pieces that may have to be withdrawn.
    shown: bool,
    observers: [Option<Arc<Observer>>; 2],
}

impl Unchecked {
    pub(crate) fn new(holds: bool) -> Self {
        Self(Arc::new(Mutex::new(Pieces {
            holds,
            held: Vec::new(),
            shown: false,
            observers: [None, None],
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Pieces> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes the buffered pieces to the observers, because the reply was accepted.
    pub(crate) fn release(&self) {
        let (held, observers) = {
            let mut pieces = self.lock();
            (std::mem::take(&mut pieces.held), pieces.observers.clone())
        };
        for delta in &held {
            emit(&observers, &ModelEvent::Delta(delta));
        }
    }

    /// Drops the buffered pieces, and withdraws the pieces that were shown.
    pub(crate) fn withdraw(&self) {
        let (shown, observers) = {
            let mut pieces = self.lock();
            pieces.held.clear();
            (std::mem::take(&mut pieces.shown), pieces.observers.clone())
        };
        if shown {
            emit(&observers, &ModelEvent::StepRestarted);
        }
    }

    /// Records an event. Returns `true` if the observers must not receive the event, because pieces are buffered.
    fn keep(&self, event: &ModelEvent<'_>, observers: &[Option<Arc<Observer>>; 2]) -> bool {
        let mut pieces = self.lock();
        pieces.observers.clone_from(observers);
        match event {
            ModelEvent::Delta(delta) if pieces.holds => pieces.held.push((*delta).clone()),
            ModelEvent::StepRestarted if pieces.holds => pieces.held.clear(),
            ModelEvent::Delta(_) => {
                pieces.shown = true;
                return false;
            }
            ModelEvent::StepRestarted => {
                pieces.shown = false;
                return false;
            }
            _ => return false,
        }
        true
    }
}

impl FromContext for Unchecked {
    const EFFECT: Effect = Effect::NONE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension()
            .ok_or_else(|| ToolError::unavailable("the guardrails of the output"))
    }
}

fn emit(observers: &[Option<Arc<Observer>>; 2], event: &ModelEvent<'_>) {
    for observer in observers.iter().flatten() {
        observer(event);
    }
}

/// The observers of one request: of the model, and of the context.
#[derive(Clone, Default)]
pub(super) struct Observers {
    observers: [Option<Arc<Observer>>; 2],
    unchecked: Option<Unchecked>,
}

impl Observers {
    pub(super) fn new(own: Option<&Arc<Observer>>, cx: &ToolContext) -> Self {
        let of_context = cx.get::<ModelObserver>().ok();
        Self {
            observers: [
                own.cloned(),
                of_context.map(|ModelObserver(observer)| observer),
            ],
            unchecked: cx.get().ok(),
        }
    }

    pub(super) fn emit(&self, event: &ModelEvent<'_>) {
        let unchecked = self.unchecked.as_ref();
        if !unchecked.is_some_and(|unchecked| unchecked.keep(event, &self.observers)) {
            emit(&self.observers, event);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.observers.iter().all(Option::is_none)
    }

    /// Returns whether pieces are buffered until the reply is complete and checked.
    pub(super) fn hold(&self) -> bool {
        let unchecked = self.unchecked.as_ref();
        unchecked.is_some_and(|unchecked| unchecked.lock().holds)
    }
}

/// An event of a request to a model, for interfaces that show the reply piece by piece, and for logs.
/// The function that [`HttpModel::observe`](super::HttpModel::observe) sets receives the events in order.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ModelEvent<'a> {
    /// An attempt begins: the request is about to be sent.
    Request {
        /// The name of the model.
        model: &'a str,
        /// The number of the attempt at this model in this step; the first is 1.
        attempt: u32,
    },
    /// The next piece of the reply.
    Delta(&'a Delta),
    /// All pieces since the last [`Request`](Self::Request) are withdrawn, because the attempt failed or a guardrail refused the reply. After a
    /// failed attempt, [`Failed`](Self::Failed) follows and states whether the request is sent again; after a refusal, no `Failed` follows. With
    /// [`Restart::Refuse`](super::Restart::Refuse), the pieces of a failed attempt are not withdrawn.
    StepRestarted,
    /// An attempt of the request failed.
    Failed {
        /// The error of this attempt. Its `usage` is the usage of the attempt, and `earlier` is empty.
        error: &'a ModelError,
        /// The wait until the request is sent to this model again; `None` if this model is not tried again in this step.
        retry_in: Option<Duration>,
    },
}
