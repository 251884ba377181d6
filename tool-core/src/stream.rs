//! Streaming tools: any number of progress values, then exactly one final value.

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures::stream::{self, BoxStream, Stream, StreamExt};
use serde::Serialize;

use crate::error::ToolError;
use crate::output::{Failure, IntoOutput, Returned, Step};

/// One item of a streaming tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamItem<P, T> {
    /// A progress value, for the client and never for the model.
    Progress(P),
    /// The output. The stream is not read any further.
    Final(T),
}

/// The return type of a streaming tool. See [`tool_stream!`](crate::tool_stream).
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
#[doc(alias("generator", "streaming tool", "progress"))]
pub struct ToolStream<P, T>(BoxStream<'static, Result<StreamItem<P, T>, ToolError>>);

impl<P: 'static, T: 'static> ToolStream<P, T> {
    /// Wraps a stream that cannot fail.
    pub fn new(stream: impl Stream<Item = StreamItem<P, T>> + Send + 'static) -> Self {
        Self(stream.map(Ok).boxed())
    }

    /// Wraps a stream that can end with an error.
    pub fn try_new<E: Into<ToolError>>(
        stream: impl Stream<Item = Result<StreamItem<P, T>, E>> + Send + 'static,
    ) -> Self {
        Self(stream.map(|item| item.map_err(Into::into)).boxed())
    }

    /// Wraps any stream whose items are [`StreamItem`]s or `Result`s with a [`StreamItem`].
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

/// An item of a stream that a tool may return: a [`StreamItem`], or a `Result` with a [`StreamItem`].
#[diagnostic::on_unimplemented(
    message = "a tool cannot return a stream of `{Self}`",
    label = "not an item of a streaming tool",
    note = "the items are `StreamItem<P, T>`: any number of `Progress(P)`, then one `Final(T)`"
)]
pub trait Item {
    /// Type of the progress values.
    type Progress;
    /// Type of the output.
    type Final;

    /// Returns the item, or the error that ends the stream.
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

/// Slot in which the body of `tool_stream!` stores its output.
///
/// It also passes the types that the surrounding fn states to the body, so that rustc reports a value of a different type at that value.
#[doc(hidden)]
pub struct OutputSlot<P, T>(Arc<Mutex<Option<T>>>, PhantomData<fn() -> P>);

impl<P, T> OutputSlot<P, T> {
    /// Creates an empty slot.
    #[expect(clippy::new_without_default, reason = "only `tool_stream!` creates it")]
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(None)), PhantomData)
    }

    /// Returns the type of the progress values, so that rustc infers it. This is never called.
    pub fn step(&self) -> P {
        unreachable!("only called behind `if false`")
    }

    /// Stores the final value of the stream.
    pub fn set(&self, output: T) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(output);
    }
}

/// Returns a stream of the progress from `make`, followed by the output that its body stored in the slot.
#[doc(hidden)]
pub fn generator<P, T, S>(
    slot: OutputSlot<P, T>,
    make: impl FnOnce(OutputSlot<P, T>) -> S,
) -> ToolStream<P, T>
where
    P: 'static,
    T: Send + 'static,
    S: Stream<Item = Result<P, ToolError>> + Send + 'static,
{
    let output = Arc::clone(&slot.0);
    let steps = make(slot).map(|step| step.map(StreamItem::Progress));
    let output =
        stream::once(async move { output.lock().unwrap_or_else(PoisonError::into_inner).take() });
    let output =
        output.filter_map(async |output| output.map(|output| Ok(StreamItem::Final(output))));
    ToolStream(steps.chain(output).boxed())
}

/// A value to which `?` applies in `tool_stream!`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`?` in `tool_stream!` needs a `Result` whose error is a `std::error::Error`, found `{Self}`",
    label = "not a `Result` with such an error",
    note = "convert an `Option` with `.ok_or_else(|| ToolError::new(\"…\"))?`",
    note = "convert a different error type with `.map_err(|error| ToolError::new(\"…\"))?`"
)]
pub trait Outcome {
    /// The type with [`ToolError`] as its error.
    type Told;

    /// Converts the error into a [`ToolError`].
    fn told(self) -> Self::Told;
}

#[diagnostic::do_not_recommend]
impl<T, E: Into<ToolError>> Outcome for Result<T, E> {
    type Told = Result<T, ToolError>;

    fn told(self) -> Self::Told {
        self.map_err(Into::into)
    }
}

#[diagnostic::do_not_recommend]
impl<T, E: Into<ToolError>> Outcome for Poll<Result<T, E>> {
    type Told = Poll<Result<T, ToolError>>;

    fn told(self) -> Self::Told {
        self.map_err(Into::into)
    }
}

/// Applies [`Outcome::told`] to an expression of any type, so that rustc reports a wrong type with the message of `Outcome`.
#[doc(hidden)]
pub trait Tried: Sized {
    /// Returns the value to which `?` applies.
    fn __tried(self) -> Self::Told
    where
        Self: Outcome,
    {
        self.told()
    }
}

impl<T> Tried for T {}

/// Returns a stream for a body that does not compile, so that rustc does not report further errors.
#[doc(hidden)]
pub fn no_stream<P: Send + 'static, T: Send + 'static>() -> ToolStream<P, T> {
    ToolStream(stream::empty().boxed())
}

/// Writes the body of a streaming tool: `yield` sends progress, `?` ends the stream with an error, the last expression is the output.
///
/// It is based on async-stream, so `for await item in stream { … }` works as well. A `?` does not work in the arguments of a different macro: bind
/// the value with `let` first.
///
/// ```
/// use tool_core::{ToolError, ToolStream, tool_stream};
///
/// fn count(to: String) -> ToolStream<u32, String> {
///     tool_stream! {
///         let to: u32 = to.parse()?;
///         for n in 1..=to {
///             yield n;
///         }
///         format!("counted to {to}")
///     }
/// }
/// # let _ = count("3".to_owned());
/// ```
#[cfg(feature = "stream")]
#[doc(alias("generator", "async generator", "progress", "yield"))]
#[macro_export]
macro_rules! tool_stream {
    ($($body:tt)*) => {
        $crate::__private0::tool_stream_inner!(($crate) $($body)*)
    };
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
                .map_err(|error| {
                    ToolError::foreign(error)
                        .operator("a progress value cannot be serialized as JSON")
                }),
            StreamItem::Final(output) => Ok(Step::Final(output)),
        });
        Ok(Returned::Stream(steps.boxed()))
    }
}

impl<P, T, E> IntoOutput for Result<ToolStream<P, T>, E>
where
    P: Serialize + Send + 'static,
    T: Serialize + Send + 'static,
    E: Failure,
{
    type Value = T;

    fn into_returned(self) -> Result<Returned<T>, ToolError> {
        self.map_err(Failure::into_error)?.into_returned()
    }
}
