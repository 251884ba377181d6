//! Whatever a tool does, its run ends with a result: panic, cancellation and deadline included.

use std::any::Any;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::Ordering;

use futures::FutureExt;
use futures::future::{Either, select};
use tokio::time::{Instant, timeout_at};

use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};

/// How a run ended, if not by itself.
enum Cut {
    Cancelled,
    TimedOut,
}

/// Runs a job to its end or cuts it. A job that is cut is dropped here.
pub(super) async fn guarded<R>(
    job: impl Future<Output = Result<R, ToolError>> + Send,
    cx: &ToolContext,
) -> Result<R, ToolError> {
    // Outside of everything: a timer without a runtime panics too.
    let run = if cx.cancellation().is_none() && cx.deadline().is_none() {
        // Nothing can cut it short.
        AssertUnwindSafe(job).catch_unwind().await.map(Ok)
    } else {
        AssertUnwindSafe(bounded(job, cx)).catch_unwind().await
    };
    match run {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(cut)) => Err(cut_error(&cut, cx)),
        Err(payload) => Err(panicked(&*payload)),
    }
}

/// The deadline, where there is one.
async fn bounded<R>(job: impl Future<Output = R> + Send, cx: &ToolContext) -> Result<R, Cut> {
    match cx.deadline() {
        None => cancellable(job, cx).await,
        // The timer looks at the job first; a call that is late already must not start.
        Some(deadline) if deadline <= Instant::now() => Err(Cut::TimedOut),
        Some(deadline) => timeout_at(deadline, cancellable(job, cx))
            .await
            .unwrap_or(Err(Cut::TimedOut)),
    }
}

/// The cancellation, where there is one. It is asked first, so that a cancelled turn starts nothing.
async fn cancellable<R>(job: impl Future<Output = R> + Send, cx: &ToolContext) -> Result<R, Cut> {
    let Some(token) = cx.cancellation() else {
        return Ok(job.await);
    };
    match select(std::pin::pin!(token.cancelled()), std::pin::pin!(job)).await {
        Either::Left(_) => Err(Cut::Cancelled),
        Either::Right((outcome, _)) => Ok(outcome),
    }
}

fn cut_error(cut: &Cut, cx: &ToolContext) -> ToolError {
    let detached = cx
        .scope()
        .is_some_and(|scope| scope.detached.load(Ordering::Relaxed));
    let error = match cut {
        Cut::Cancelled => ToolError::of(ErrorKind::Cancelled, "the call was cancelled"),
        Cut::TimedOut => ToolError::of(
            ErrorKind::TimedOut,
            "the call took longer than it may and was stopped",
        ),
    };
    if detached {
        error.operator("its blocking work cannot be stopped and goes on in the background")
    } else {
        error
    }
}

/// The text of a panic.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> &str {
    payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("the payload is not a text")
}

/// The error of a panic. What it says is for the operator: it may hold anything.
pub(super) fn panicked(payload: &(dyn Any + Send)) -> ToolError {
    let said = panic_text(payload);
    ToolError::of(
        ErrorKind::Panicked,
        "the tool failed by a fault of its own, the same call will fail again",
    )
    .operator(format!("it panicked: {said}"))
}
