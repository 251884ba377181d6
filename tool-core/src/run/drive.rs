//! The event stream of a call.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use futures::stream::{Stream, StreamExt};

use crate::call::{CallResult, ToolEvent};
use crate::context::progress::Steps;

type Run = BoxFuture<'static, CallResult>;
/// The progress events of a call, and the future of its result.
pub(super) type Running = (Steps, Run);

/// The events of one call: `Started` if the body of the tool begins, then progress, then one `Done`.
pub(super) enum Events<B> {
    /// The call has not been started.
    Fresh(B),
    /// The call is running.
    Running(Steps, Run),
    /// The call is over; the remaining progress is sent before the result.
    Ending(Steps, Box<CallResult>),
    /// The result was sent; no event follows.
    Over,
}

impl<B> Events<B>
where
    B: FnOnce() -> Result<Running, CallResult>,
{
    pub(super) fn new(begin: B) -> Self {
        Self::Fresh(begin)
    }
}

impl<B> Stream for Events<B>
where
    B: FnOnce() -> Result<Running, CallResult> + Unpin,
{
    type Item = ToolEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ToolEvent>> {
        let this = self.get_mut();
        loop {
            match std::mem::replace(this, Self::Over) {
                Self::Fresh(begin) => match begin() {
                    Ok((steps, run)) => *this = Self::Running(steps, run),
                    Err(refused) => return Poll::Ready(Some(ToolEvent::Done(refused))),
                },
                Self::Running(mut steps, mut run) => {
                    if let Poll::Ready(Some(step)) = steps.poll_next_unpin(cx) {
                        *this = Self::Running(steps, run);
                        return Poll::Ready(Some(step));
                    }
                    let Poll::Ready(result) = Pin::new(&mut run).poll(cx) else {
                        // Progress that this poll produced is returned at once.
                        let step = steps.poll_next_unpin(cx);
                        *this = Self::Running(steps, run);
                        return match step {
                            Poll::Ready(Some(step)) => Poll::Ready(Some(step)),
                            _ => Poll::Pending,
                        };
                    };
                    *this = Self::Ending(steps, Box::new(result));
                }
                Self::Ending(mut steps, result) => {
                    if let Poll::Ready(Some(step)) = steps.poll_next_unpin(cx) {
                        *this = Self::Ending(steps, result);
                        return Poll::Ready(Some(step));
                    }
                    return Poll::Ready(Some(ToolEvent::Done(*result)));
                }
                Self::Over => return Poll::Ready(None),
            }
        }
    }
}
