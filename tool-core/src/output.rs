//! The output of a tool, and the form of it that the model reads.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use futures::stream::BoxStream;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::ToolError;
use crate::redact::{Redact, Redactor};

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
pub(crate) use model::without_secret_files;
#[cfg(feature = "host")]
pub(crate) use model::{Content, parts_as_text};
pub use model::{HOLDS_SECRET, ModelOutput, Part, Source, decoded_size};
pub(crate) use write::{Unwritten, write};

/// The output of a type-erased run.
pub(crate) struct Output {
    /// The payload, for the client.
    pub(crate) payload: Box<RawValue>,
    /// The output that the model reads instead of the payload.
    pub(crate) model: Option<ModelOutput>,
}

impl Output {
    /// Returns the payload with a line in place of the bytes of each file that is a part of the model output.
    pub(crate) fn without_bytes(&self) -> Cow<'_, str> {
        let payload = self.payload.get();
        let parts = self.model.as_ref().map_or(&[][..], ModelOutput::files);
        seen::without_bytes(payload, parts).map_or(Cow::Borrowed(payload), Cow::Owned)
    }
}

/// Prints the payload as [`without_bytes`](Output::without_bytes) returns it.
impl fmt::Debug for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Output")
            .field("payload", &self.without_bytes())
            .field("model", &self.model)
            .finish()
    }
}

/// Returns the model output of a [`ModelOutput`], a [`Part`] or a list of parts, for callers that are generic over the type.
///
/// This is generic and inlined, so that the compiler decides the comparisons of types.
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

/// A type that a tool fn may return.
///
/// These are `Result<T, E>` if `T` implements `Serialize` and `E` converts into [`ToolError`], a [`ToolStream`](crate::ToolStream), common types of
/// the standard library and of optional crates, JSON values, [`Citation`], [`Image`], [`Audio`], [`File`], [`Part`], [`ModelOutput`], and every type
/// that derives `StrictSchema` and `Serialize`.
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "a tool cannot return this type",
    note = "return `Result<T, ToolError>`, where `T` implements `Serialize`",
    note = "or derive `StrictSchema` and `Serialize` for `{Self}`"
)]
pub trait IntoOutput {
    /// The type of the payload.
    type Value: Serialize + Send + 'static;

    /// Returns the output, or the stream that ends with it.
    fn into_returned(self) -> Result<Returned<Self::Value>, ToolError>;
}

/// An error type that a tool can return.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tool cannot fail with `{Self}`: it is not a `std::error::Error`",
    label = "its error cannot become a `ToolError`",
    note = "return `Result<…, ToolError>`: `?` converts every `std::error::Error`, any other type needs `.map_err(|error| ToolError::new(\"…\"))?`",
    note = "`Box<dyn Error>` does not implement `std::error::Error`: `.map_err(ToolError::foreign)?` converts `Box<dyn Error + Send + Sync>` and `anyhow::Error`"
)]
pub trait Failure {
    /// Converts the error into a [`ToolError`].
    fn into_error(self) -> ToolError;
}

#[diagnostic::do_not_recommend]
impl<E: Into<ToolError>> Failure for E {
    fn into_error(self) -> ToolError {
        self.into()
    }
}

/// The value that a tool fn returned.
pub enum Returned<T> {
    /// The output itself, without steps.
    Value(T),
    /// A stream of steps that ends with the output.
    Stream(BoxStream<'static, Result<Step<T>, ToolError>>),
}

/// One step of a streaming tool. Progress is already written as JSON.
pub enum Step<T> {
    /// A progress step for the client.
    Progress(Box<RawValue>),
    /// The output, after the last step.
    Final(T),
}

/// An output with a separate form for the model. The client still gets the complete output.
///
/// If the output type of a tool implements this, the model reads [`to_model_output`](Self::to_model_output). `#[tool]` needs no option for it.
pub trait ToModelOutput {
    /// Returns the output that the model reads.
    fn to_model_output(&self) -> ModelOutput;
}

/// Returns the output itself.
impl ToModelOutput for ModelOutput {
    fn to_model_output(&self) -> ModelOutput {
        self.clone()
    }
}

/// Returns an output of this part alone.
impl ToModelOutput for Part {
    fn to_model_output(&self) -> ModelOutput {
        ModelOutput::parts([self.clone()])
    }
}

impl Redact for Output {
    fn masked(self, redactor: &Redactor) -> Self {
        let Self { payload, model } = self;
        let payload = without_secret_files(payload, model.as_ref(), redactor);
        Self {
            payload: payload.masked(redactor),
            model: model.masked(redactor),
        }
    }
}
