//! Guard around a tool's run: panics, cancellation and deadlines become results.

use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::Poll;

use futures::FutureExt;
use tokio::time::{Instant, timeout_at};

use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::panics::panic_text;

/// Why a run was cut short.
enum Cut {
    Cancelled,
    TimedOut,
}

/// Runs a job to its end, or cuts it short and drops it.
pub(super) async fn guarded<R>(
    job: impl Future<Output = Result<R, ToolError>> + Send,
    cx: &ToolContext,
) -> Result<R, ToolError> {
    // `catch_unwind` is the outermost layer: a timer without a runtime panics too.
    let run = match (cx.deadline(), cx.can_be_stopped()) {
        // Nothing can cut this job short.
        (None, false) => AssertUnwindSafe(job).catch_unwind().await.map(Ok),
        (None, true) => AssertUnwindSafe(cancellable(job, cx)).catch_unwind().await,
        (Some(deadline), _) => {
            AssertUnwindSafe(bounded(job, deadline, cx))
                .catch_unwind()
                .await
        }
    };
    match run {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(cut)) => Err(cut_error(&cut, cx)),
        Err(payload) => Err(panicked(&*payload)),
    }
}

/// Runs a job until its deadline, or until it is cancelled.
async fn bounded<R>(
    job: impl Future<Output = R> + Send,
    deadline: Instant,
    cx: &ToolContext,
) -> Result<R, Cut> {
    // The timer polls the job first, but a call that is already late must not start.
    if deadline <= Instant::now() {
        return Err(Cut::TimedOut);
    }
    timeout_at(deadline, cancellable(job, cx))
        .await
        .unwrap_or(Err(Cut::TimedOut))
}

/// Runs a job until it is cancelled. The token is checked first, so that a cancelled turn starts no job.
async fn cancellable<R>(job: impl Future<Output = R> + Send, cx: &ToolContext) -> Result<R, Cut> {
    let (mut job, mut cancelled) = (pin!(job), pin!(None));
    poll_fn(|task| {
        if cx.is_stopped() {
            return Poll::Ready(Err(Cut::Cancelled));
        }
        if let Poll::Ready(outcome) = job.as_mut().poll(task) {
            return Poll::Ready(Ok(outcome));
        }
        // Only a job that has to wait registers its waker with the token, because `cancellation` may have to create the token first.
        if cancelled.is_none()
            && let Some(token) = cx.cancellation()
        {
            cancelled.set(Some(token.cancelled()));
        }
        match cancelled.as_mut().as_pin_mut() {
            Some(cancelled) => cancelled.poll(task).map(|()| Err(Cut::Cancelled)),
            None => Poll::Pending,
        }
    })
    .await
}

fn cut_error(cut: &Cut, cx: &ToolContext) -> ToolError {
    let detached = cx
        .scope()
        .is_some_and(|scope| scope.detached.load(Ordering::Relaxed));
    let error = match cut {
        Cut::Cancelled => ToolError::of(ErrorKind::Cancelled, "the call was cancelled"),
        Cut::TimedOut => ToolError::of(
            ErrorKind::TimedOut,
            "the call exceeded its time limit and was stopped",
        ),
    };
    if detached {
        error.operator("its blocking work cannot be stopped and continues in the background")
    } else {
        error
    }
}

/// Returns the error of a panic. Only the operator sees the text of the panic, because it may contain anything.
pub(super) fn panicked(payload: &(dyn Any + Send)) -> ToolError {
    let said = panic_text(payload);
    ToolError::of(
        ErrorKind::Panicked,
        "the tool failed because of a bug in it, the same call will probably fail again",
    )
    .operator(format!("it panicked: {said}"))
}
