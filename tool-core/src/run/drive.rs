//! From what a tool returned to its one output, and the events on the way.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::future::BoxFuture;
use futures::stream::{BoxStream, Stream, StreamExt};
use pin_project_lite::pin_project;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::call::{CallResult, ToolEvent};
use crate::context::ToolContext;
use crate::context::progress::Steps;
use crate::error::ToolError;
use crate::output::{self, ModelOutput, Output, Returned, Step, Unwritten};
use crate::tool::Finished;

/// Runs a body, reads what it returns to its end, and writes the output.
pub(crate) fn finish<T, B, V>(body: B, view: V, cx: ToolContext) -> Finish<T, B, V>
where
    T: Serialize + Send + 'static,
    B: Future<Output = Result<Returned<T>, ToolError>> + Send,
    V: Fn(&T) -> Option<ModelOutput> + Send,
{
    Finish {
        body,
        stream: None,
        view,
        cx,
    }
}

pin_project! {
    /// A body whose output is written when it ends. Written by hand, because an `async` block holds the body twice (once as its argument and once while it waits),
    /// and each combinator adds a function to every tool.
    pub(crate) struct Finish<T, B, V> {
        #[pin]
        body: B,
        // What the body has returned, if that is a stream.
        stream: Option<BoxFuture<'static, Result<T, ToolError>>>,
        view: V,
        cx: ToolContext,
    }
}

impl<T, B, V> Future for Finish<T, B, V>
where
    T: Serialize + Send + 'static,
    B: Future<Output = Result<Returned<T>, ToolError>> + Send,
    V: Fn(&T) -> Option<ModelOutput> + Send,
{
    type Output = Result<Finished, ToolError>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let output = match this.stream {
            Some(stream) => ready!(stream.as_mut().poll(task)),
            None => match ready!(this.body.poll(task)) {
                Ok(Returned::Value(output)) => {
                    this.cx.set_returned();
                    Ok(output)
                }
                Ok(Returned::Stream(steps)) => {
                    let cx = this.cx.clone();
                    let stream = Box::pin(async move { read(steps, &cx).await });
                    ready!(this.stream.insert(stream).as_mut().poll(task))
                }
                Err(error) => Err(error),
            },
        };
        Poll::Ready(output.and_then(|output| finished(output, this.view, this.cx)))
    }
}

/// Writes the output.
fn finished<T: Serialize + Send + 'static>(
    output: T,
    view: &impl Fn(&T) -> Option<ModelOutput>,
    cx: &ToolContext,
) -> Result<Finished, ToolError> {
    let view = view(&output).or_else(|| output::own_view(&output));
    let room = cx.scope().map_or(0, |scope| scope.room);
    let watching = output::seen::watch();
    let payload = output::write(&output, room);
    let finished = viewed(view, payload, watching)?;
    #[cfg(feature = "host")]
    if let Some(typed) = cx.typed_output() {
        typed.put(Box::new(output));
    }
    Ok(finished)
}

/// The output with what the model reads of it.
fn viewed(
    view: Option<ModelOutput>,
    payload: Result<Box<RawValue>, Unwritten>,
    watching: output::seen::Watching,
) -> Result<Finished, ToolError> {
    let mut model = view.map(ModelOutput::proven).transpose()?;
    let payload = payload.map_err(unwritten)?;
    if output::seen::has_files() {
        model = Some(output::seen::model(&payload, model)?);
    }
    drop(watching);
    Ok(Finished(Output { payload, model }))
}

#[cold]
fn unwritten(why: Unwritten) -> ToolError {
    match why {
        Unwritten::NotFinite(pointer) => {
            let place = if pointer.is_empty() {
                "the result".to_owned()
            } else {
                format!("`{pointer}` of the result")
            };
            ToolError::new(format!(
                "the tool has computed no number for {place}: it is infinite or not a number, which JSON cannot say"
            ))
            .operator("return an `Option` that is `None` there, or an error")
        }
        Unwritten::Other(error) => {
            ToolError::foreign(error).operator("the output cannot be written as JSON")
        }
    }
}

/// The one output.
#[inline]
pub(super) async fn settle<T>(returned: Returned<T>, cx: &ToolContext) -> Result<T, ToolError> {
    match returned {
        Returned::Value(output) => {
            cx.set_returned();
            Ok(output)
        }
        Returned::Stream(steps) => read(steps, cx).await,
    }
}

/// The output at the end of a stream, which is not read past it.
async fn read<T>(
    mut steps: BoxStream<'static, Result<Step<T>, ToolError>>,
    cx: &ToolContext,
) -> Result<T, ToolError> {
    while let Some(step) = steps.next().await {
        match step? {
            Step::Final(output) => {
                cx.set_returned();
                return Ok(output);
            }
            Step::Progress(json) => cx.yield_progress(json).await,
        }
    }
    Err(ToolError::new("the tool ended without a result").operator(
        "its stream ended without a `StreamItem::Final`: the last item has to be the output",
    ))
}

type Run = BoxFuture<'static, CallResult>;
/// What a call sends before its end, and the call.
pub(super) type Running = (Steps, Run);

/// Events of one call: `Started` unless it is refused, progress, one `Done`.
pub(super) enum Events<B> {
    /// Nothing was asked yet.
    Fresh(B),
    /// It runs.
    Running(Steps, Run),
    /// It is over; what is left of the progress comes before the result.
    Ending(Steps, Box<CallResult>),
    /// Nothing follows.
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
                        // What the poll has sent is taken at once.
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
