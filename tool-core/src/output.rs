//! What a tool returns, and what of it the model reads.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use futures::stream::BoxStream;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::ToolError;

pub(crate) mod check;
mod citation;
mod into_output;
mod media;
mod model;
pub(crate) mod seen;
mod write;

pub use citation::Citation;
pub(crate) use media::is_media;
pub use media::{Audio, File, Image};
#[cfg(feature = "host")]
pub(crate) use model::parts_as_text;
pub(crate) use model::{Content, without_secret_files};
pub use model::{HOLDS_SECRET, ModelOutput, Part, Source, decoded_size};
pub(crate) use write::{Unwritten, is_plain, quote, write};

/// What an erased run gives.
pub(crate) struct Output {
    /// The payload, for the client.
    pub(crate) payload: Box<RawValue>,
    /// What the model reads instead.
    pub(crate) model: Option<ModelOutput>,
}

impl Output {
    /// The payload with a line in the place of the bytes of each file that the model is shown.
    pub(crate) fn without_bytes(&self) -> Cow<'_, str> {
        let payload = self.payload.get();
        let Some(ModelOutput(Content::Parts(parts))) = &self.model else {
            return Cow::Borrowed(payload);
        };
        seen::without_bytes(payload, parts).map_or(Cow::Borrowed(payload), Cow::Owned)
    }
}

/// Without the bytes of files.
impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("payload", &self.without_bytes())
            .field("model", &self.model)
            .finish()
    }
}

/// What a type of this module says itself that the model reads of it, also where generic code returns it.
///
/// Generic and inlined, so that the compiler decides the comparisons of types.
#[inline]
pub(crate) fn own_view<T: Any>(output: &T) -> Option<ModelOutput> {
    let output: &dyn Any = output;
    if let Some(output) = output.downcast_ref::<ModelOutput>() {
        return Some(output.clone());
    }
    if let Some(parts) = output.downcast_ref::<Vec<Part>>() {
        return Some(ModelOutput::parts(parts.iter().cloned()));
    }
    let part = output.downcast_ref::<Part>()?;
    Some(ModelOutput::parts([part.clone()]))
}

/// What a tool fn may return.
///
/// `Result<T, E>` with a serialisable `T` and any error, a [`ToolStream`](crate::ToolStream), the types of the standard library,
/// [`Image`], [`Audio`], [`File`], [`Part`], [`ModelOutput`], and whatever derives `StrictSchema` and `Serialize`.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not something a tool can return",
    note = "return `Result<{Self}, ToolError>`: any type that is `Serialize` can stand there",
    note = "or derive `StrictSchema` and `Serialize` for `{Self}`"
)]
pub trait IntoOutput {
    /// The payload's type.
    type Value: Serialize + Send + 'static;

    /// The one value, or the stream that ends with it.
    fn into_returned(self) -> Result<Returned<Self::Value>, ToolError>;
}

/// An error that may end a tool.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{Self}`: it is no `std::error::Error`",
    label = "its error cannot become a `ToolError`",
    note = "return `Result<…, ToolError>`: `?` takes every `std::error::Error`, what is none takes `.map_err(|error| ToolError::new(\"…\"))?`",
    note = "`Box<dyn Error>` is none either: `.map_err(ToolError::foreign)?` takes `Box<dyn Error + Send + Sync>` and `anyhow::Error`"
)]
pub trait Failure {
    /// The error of this crate.
    fn into_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> Failure for E {
    fn into_error(self) -> ToolError {
        self.into()
    }
}

/// What a tool fn gave.
pub enum Returned<T> {
    /// The output.
    Value(T),
    /// Steps that end with the output.
    Stream(BoxStream<'static, Result<Step<T>, ToolError>>),
}

/// One step of a generator tool, progress written as JSON already.
pub enum Step<T> {
    /// For the client.
    Progress(Box<RawValue>),
    /// The output.
    Final(T),
}

/// An output that says itself what the model reads of it. The client still gets the whole.
///
/// A tool whose output type has this is shown to the model through it, without a word on the attribute.
pub trait ToModelOutput {
    /// What the model reads.
    fn to_model_output(&self) -> ModelOutput;
}

/// What it is.
impl ToModelOutput for ModelOutput {
    fn to_model_output(&self) -> ModelOutput {
        self.clone()
    }
}

/// The part alone.
impl ToModelOutput for Part {
    fn to_model_output(&self) -> ModelOutput {
        ModelOutput::parts([self.clone()])
    }
}
