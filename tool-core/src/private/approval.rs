//! The predicate of `approval = …`: a closure, or a path to a fn.

use std::marker::PhantomData;

use crate::args::{self, read::Decode};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::schema::StrictSchema;

/// Runs a closure on typed arguments. The bound determines the types of its parameters.
pub fn predicate<T: StrictSchema + Decode, A: Answer>(
    text: &str,
    cx: &ToolContext,
    asks: impl FnOnce(&T, &ToolContext) -> A,
) -> Result<bool, ToolError> {
    asks(&read::<T>(text)?, cx).answer()
}

/// Runs a fn on typed arguments.
pub fn predicate_path<T: StrictSchema + Decode, P: Predicate<T>>(
    text: &str,
    cx: &ToolContext,
    asks: P,
) -> Result<bool, ToolError> {
    asks.asks(&read::<T>(text)?, cx)
}

/// Deserializes arguments that match the schema.
fn read<T: StrictSchema + Decode>(text: &str) -> Result<T, ToolError> {
    match args::read::read::<T>(T::SCHEMA, text) {
        Ok(read) => Ok(read.value),
        Err(issue) => Err(ToolError::invalid_arguments(issue.into_iter().collect())),
    }
}

/// A return type of a predicate: whether a person has to approve, or an error, which requires approval as well.
#[diagnostic::on_unimplemented(
    message = "a predicate of `approval` returns `bool`, found `{Self}`",
    label = "does not return `bool`",
    note = "`Result<bool, ToolError>` can be returned too: an error requires approval"
)]
pub trait Answer {
    /// Returns whether a person has to approve.
    fn answer(self) -> Result<bool, ToolError>;
}

impl Answer for bool {
    fn answer(self) -> Result<bool, ToolError> {
        Ok(self)
    }
}

impl<E: Into<ToolError>> Answer for Result<bool, E> {
    fn answer(self) -> Result<bool, ToolError> {
        self.map_err(Into::into)
    }
}

/// `PredicateOf::<T, _>::of(path).picked()`: returns `Fits` for a predicate, else `FitsNot`, which does not implement `Predicate`. A bound
/// that requires [`FnOnce`] would not be enough: for a fn with different parameters, rustc would not print the message of `Predicate`.
pub struct PredicateOf<T, F>(F, PhantomData<fn() -> T>);

impl<T, F> PredicateOf<T, F> {
    /// Wraps the fn that decides on an approval.
    pub fn of(asks: F) -> Self {
        Self(asks, PhantomData)
    }
}

impl<T, F> PredicateOf<T, F>
where
    F: for<'a, 'b> Asks<&'a T, &'b ToolContext>,
{
    /// Wraps the fn as a predicate.
    pub fn picked(self) -> Fits<F> {
        Fits(self.0)
    }
}

/// Fallback for a fn that is not a predicate.
pub trait NoPredicate<F> {
    /// Wraps a fn that is not a predicate.
    fn picked(self) -> FitsNot<F>;
}

impl<T, F> NoPredicate<F> for PredicateOf<T, F> {
    fn picked(self) -> FitsNot<F> {
        FitsNot(PhantomData)
    }
}

/// A fn that is a predicate.
pub struct Fits<F>(F);

/// A fn that is not a predicate.
pub struct FitsNot<F>(PhantomData<fn() -> F>);

/// A fn that decides whether a person has to approve a call.
#[diagnostic::on_unimplemented(
    message = "`approval` needs a fn that takes the arguments and the context and returns `bool`",
    label = "not a `fn(&{T}, &ToolContext) -> bool`",
    note = "write `fn asks(call: &{T}, cx: &ToolContext) -> bool`, without `async`; `Result<bool, ToolError>` can be returned too"
)]
pub trait Predicate<T> {
    /// Returns whether a person has to approve.
    fn asks(self, input: &T, cx: &ToolContext) -> Result<bool, ToolError>;
}

#[diagnostic::do_not_recommend]
impl<T, F> Predicate<T> for Fits<F>
where
    F: for<'a, 'b> Asks<&'a T, &'b ToolContext>,
{
    fn asks(self, input: &T, cx: &ToolContext) -> Result<bool, ToolError> {
        self.0.ask(input, cx)
    }
}

/// A fn of two parameters that returns an [`Answer`]. Parameters without `for<'a>` let rustc infer the return type.
pub trait Asks<A, B> {
    /// Returns whether a person has to approve.
    fn ask(self, input: A, cx: B) -> Result<bool, ToolError>;
}

impl<F, A, B, R> Asks<A, B> for F
where
    F: FnOnce(A, B) -> R,
    R: Answer,
{
    fn ask(self, input: A, cx: B) -> Result<bool, ToolError> {
        self(input, cx).answer()
    }
}
