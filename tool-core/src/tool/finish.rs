//! Conversion of a tool's return value into its output.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt};
use pin_project_lite::pin_project;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Finished;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::output::{self, ModelOutput, Output, Returned, Step, Unwritten};

/// Runs a body, reads a returned stream up to its final item, and writes the output.
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
    /// Future of a body whose output is written when it ends. It is not an `async` block, because that would store the body twice (as its argument and while it
    /// waits), and not a chain of combinators, because each combinator adds a function to every tool.
    pub(crate) struct Finish<T, B, V> {
        #[pin]
        body: B,
        // This is set if the body has returned a stream.
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

/// Writes the output and its view for the model.
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

/// Combines the payload with the view that the model reads.
fn viewed(
    view: Option<ModelOutput>,
    payload: Result<Box<RawValue>, Unwritten>,
    watching: output::seen::CollectFiles,
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
                "{place} is not a finite number: JSON cannot represent infinity and NaN"
            ))
            .operator("return an `Option` that is `None` there, or an error")
        }
        Unwritten::Other(error) => {
            ToolError::foreign(error).operator("the output cannot be written as JSON")
        }
    }
}

/// Returns the output: the value of a body, or the final item of its stream.
#[inline]
pub(crate) async fn settle<T>(returned: Returned<T>, cx: &ToolContext) -> Result<T, ToolError> {
    match returned {
        Returned::Value(output) => {
            cx.set_returned();
            Ok(output)
        }
        Returned::Stream(steps) => read(steps, cx).await,
    }
}

/// Reads a stream up to its final item, the output, and no further.
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
