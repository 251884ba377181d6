//! The predicate of `approval = …`: a closure, or a path to a fn.

use std::marker::PhantomData;

use crate::args::{self, read::Decode};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::schema::StrictSchema;

/// Runs a closure on typed arguments. The types of its parameters follow from the bound.
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

/// Reads arguments that the schema admits.
fn read<T: StrictSchema + Decode>(text: &str) -> Result<T, ToolError> {
    match args::read::read::<T>(T::SCHEMA, text) {
        Ok(read) => Ok(read.value),
        Err(issue) => Err(ToolError::invalid_arguments(issue.into_iter().collect())),
    }
}

/// What a predicate may return: whether to ask, or an error, which asks.
#[diagnostic::on_unimplemented(
    message = "a predicate of `approval` returns `bool`, found `{Self}`",
    label = "does not return `bool`",
    note = "`Result<bool, ToolError>` can be returned too: a person approves where it is an error"
)]
pub trait Answer {
    /// Whether to ask.
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

/// `PredicateOf::<T, _>::of(path).picked()`: the fn, marked by whether it is a predicate. rustc reports a fn with other parameters in words of
/// its own where a bound asks for [`FnOnce`], so the bound is on the mark.
pub struct PredicateOf<T, F>(F, PhantomData<fn() -> T>);

impl<T, F> PredicateOf<T, F> {
    /// Of a fn.
    pub fn of(asks: F) -> Self {
        Self(asks, PhantomData)
    }
}

impl<T, F> PredicateOf<T, F>
where
    F: for<'a, 'b> Asks<&'a T, &'b ToolContext>,
{
    /// A predicate.
    pub fn picked(self) -> Fits<F> {
        Fits(self.0)
    }
}

/// The answer of a fn that is not a predicate.
pub trait NoPredicate<F> {
    /// Not a predicate.
    fn picked(self) -> FitsNot<F>;
}

impl<T, F> NoPredicate<F> for PredicateOf<T, F> {
    fn picked(self) -> FitsNot<F> {
        FitsNot(PhantomData)
    }
}

/// A predicate.
pub struct Fits<F>(F);

/// A fn that is not a predicate.
pub struct FitsNot<F>(PhantomData<fn() -> F>);

/// A fn that says whether a person approves a call.
#[diagnostic::on_unimplemented(
    message = "`approval` needs a fn that takes the arguments and the context and returns `bool`",
    label = "not a `fn(&{T}, &ToolContext) -> bool`",
    note = "write `fn asks(call: &{T}, cx: &ToolContext) -> bool`, without `async`; `Result<bool, ToolError>` can be returned too"
)]
pub trait Predicate<T> {
    /// Whether to ask.
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

/// A fn of two parameters that returns an [`Answer`]. Its return type follows from parameters without `for<'a>`.
pub trait Asks<A, B> {
    /// Whether to ask.
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
