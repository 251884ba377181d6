//! Handles of active runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tool_core::CancellationToken;

/// A handle that can end a run. Cheap to clone; it does not keep the run alive.
///
/// ```no_run
/// # async fn demo(code: tool_code::Code) {
/// for run in code.runs() {
///     run.terminate("the host is shutting down");
/// }
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RunHandle(Arc<State>);

#[derive(Debug)]
struct State {
    running: AtomicBool,
    stop: CancellationToken,
    reason: Mutex<Option<String>>,
    call: Option<String>,
}

impl RunHandle {
    pub(crate) fn new(call: Option<&str>) -> Self {
        Self(Arc::new(State {
            running: AtomicBool::new(true),
            stop: CancellationToken::new(),
            reason: Mutex::default(),
            call: call.map(str::to_owned),
        }))
    }

    /// Ends the run: the engine is interrupted, and its process is killed if it does not end within 150 milliseconds. Unless the run ends in a
    /// different way before that, its status is [`Status::Terminated`](crate::Status::Terminated) with this reason, which the model reads. If the
    /// method is called several times, the first reason is used. A finished run does not change.
    pub fn terminate(&self, reason: impl Into<String>) {
        let mut known = self.0.reason.lock().unwrap_or_else(PoisonError::into_inner);
        if self.running() {
            known.get_or_insert_with(|| reason.into());
            self.0.stop.cancel();
        }
    }

    /// Returns whether the run has not ended yet.
    pub fn running(&self) -> bool {
        self.0.running.load(Ordering::Acquire)
    }

    /// Returns the id of the call in which the run was started, such as the call of `run_code`, or `None` for a run outside of calls.
    pub fn call_id(&self) -> Option<&str> {
        self.0.call.as_deref()
    }

    /// Waits until the run is terminated, and returns the reason.
    pub(crate) async fn stopped(&self) -> String {
        self.0.stop.cancelled().await;
        let reason = self.0.reason.lock().unwrap_or_else(PoisonError::into_inner);
        reason.clone().unwrap_or_default()
    }

    fn over(&self) {
        self.0.running.store(false, Ordering::Release);
    }
}

/// The active runs of a [`Code`](crate::Code).
#[derive(Clone, Debug, Default)]
pub(crate) struct Runs(Arc<Mutex<Vec<Weak<State>>>>);

impl Runs {
    pub(crate) fn list(&self) -> Vec<RunHandle> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let live = known.iter().filter_map(Weak::upgrade).map(RunHandle);
        live.filter(RunHandle::running).collect()
    }

    pub(crate) fn enter(&self, handle: &RunHandle) -> Entered {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|state| {
            state
                .upgrade()
                .is_some_and(|state| state.running.load(Ordering::Acquire))
        });
        known.push(Arc::downgrade(&handle.0));
        Entered(handle.clone())
    }
}

/// Guard that marks a run as active until it is dropped.
#[derive(Debug)]
pub(crate) struct Entered(RunHandle);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.over();
    }
}
