//! Tools that tell how far they are: any number of progress values, then exactly one final value.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::stream::{BoxStream, Stream, StreamExt};
use serde::Serialize;

use crate::error::ToolError;
use crate::output::{IntoOutput, Returned, Step};

/// One item of a generator tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamItem<P, T> {
    /// How far it is: for the client, never for the model.
    Progress(P),
    /// The output. The stream is not read any further.
    Final(T),
}

/// What a generator tool returns. See [`tool_stream!`](crate::tool_stream).
///
/// ```
/// use futures::stream;
/// use tool_core::{StreamItem, ToolStream};
///
/// fn count(to: u32) -> ToolStream<u32, String> {
///     ToolStream::new(stream::iter(
///         (1..=to).map(StreamItem::Progress).chain([StreamItem::Final(format!("counted to {to}"))]),
///     ))
/// }
/// # let _ = count(3);
/// ```
#[must_use = "a stream does nothing until it is read"]
pub struct ToolStream<P, T>(BoxStream<'static, Result<StreamItem<P, T>, ToolError>>);

impl<P: 'static, T: 'static> ToolStream<P, T> {
    /// Takes a stream that cannot fail.
    pub fn new(stream: impl Stream<Item = StreamItem<P, T>> + Send + 'static) -> Self {
        Self(stream.map(Ok).boxed())
    }

    /// Takes a stream that an error ends.
    pub fn try_new<E: Into<ToolError>>(stream: impl Stream<Item = Result<StreamItem<P, T>, E>> + Send + 'static) -> Self {
        Self(stream.map(|item| item.map_err(Into::into)).boxed())
    }

    /// Takes any stream whose items are [`StreamItem`]s or results of them.
    #[doc(hidden)]
    pub fn of<S>(stream: S) -> Self
    where
        S: Stream + Send + 'static,
        S::Item: Item<Progress = P, Final = T>,
    {
        Self(stream.map(Item::into_item).boxed())
    }
}

impl<P, T> Stream for ToolStream<P, T> {
    type Item = Result<StreamItem<P, T>, ToolError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl<P, T> fmt::Debug for ToolStream<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolStream").finish_non_exhaustive()
    }
}

/// An item of a stream that a tool may return: a [`StreamItem`], or a result of one.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return a stream of `{Self}`",
    label = "not an item of a generator tool",
    note = "the items are `StreamItem<P, T>`: any number of `Progress(P)`, then one `Final(T)`"
)]
pub trait Item {
    /// Type of the progress values.
    type Progress;
    /// Type of the output.
    type Final;

    /// The item, or what ends the stream.
    fn into_item(self) -> Result<StreamItem<Self::Progress, Self::Final>, ToolError>;
}

impl<P, T> Item for StreamItem<P, T> {
    type Progress = P;
    type Final = T;

    fn into_item(self) -> Result<Self, ToolError> {
        Ok(self)
    }
}

impl<P, T, E: Into<ToolError>> Item for Result<StreamItem<P, T>, E> {
    type Progress = P;
    type Final = T;

    fn into_item(self) -> Result<StreamItem<P, T>, ToolError> {
        self.map_err(Into::into)
    }
}

impl<P, T> IntoOutput for ToolStream<P, T>
where
    P: Serialize + Send + 'static,
    T: Serialize + Send + 'static,
{
    type Value = T;

    fn into_returned(self) -> Result<Returned<T>, ToolError> {
        let steps = self.0.map(|item| match item? {
            StreamItem::Progress(progress) => serde_json::value::to_raw_value(&progress)
                .map(Step::Progress)
                .map_err(|error| ToolError::foreign(error).operator("a progress value is not JSON")),
            StreamItem::Final(output) => Ok(Step::Final(output)),
        });
        Ok(Returned::Stream(steps.boxed()))
    }
}

impl<P, T, E> IntoOutput for Result<ToolStream<P, T>, E>
where
    P: Serialize + Send + 'static,
    T: Serialize + Send + 'static,
    E: Into<ToolError>,
{
    type Value = T;

    fn into_returned(self) -> Result<Returned<T>, ToolError> {
        self.map_err(Into::into)?.into_returned()
    }
}
