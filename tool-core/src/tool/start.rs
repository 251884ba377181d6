//! The start of a run: arguments are decoded, and the body becomes a future that has not been polled.

use std::future::Future;

use super::finish::finish;
use super::{Job, Tool, ToolDef};
use crate::args::read::{Decode, Reading};
use crate::args::{self, Inexact, Issue, Misread};
use crate::context::{ToolContext, unfit};
use crate::error::ToolError;
use crate::output::Returned;

/// The right to start a run. Only `ToolDef::start` creates it, so other crates cannot call a [`Start`](super::Start).
#[doc(hidden)]
pub struct Ticket(());

/// The right to call a tool's `run`. Only this file creates it.
#[doc(hidden)]
pub struct Pass(());

/// The error if serde rejects arguments that match the schema, for example because a custom `Deserialize` impl is stricter than the schema, or if the
/// handler of a dynamic tool would receive a number with a different value.
#[doc(hidden)]
#[derive(Debug)]
pub struct DecodeError(Issue);

impl DecodeError {
    fn into_tool_error(self) -> ToolError {
        ToolError::invalid_arguments(vec![self.0])
    }
}

/// Creates the error of a call whose arguments match the schema but not the type.
#[cold]
pub(crate) fn misread(reason: Option<DecodeError>) -> ToolError {
    reason.map_or_else(unfit, DecodeError::into_tool_error)
}

impl From<Misread> for DecodeError {
    fn from(misread: Misread) -> Self {
        Self(misread.into_issue())
    }
}

impl From<Inexact> for DecodeError {
    fn from(error: Inexact) -> Self {
        match error {
            Inexact::Json(error) => Misread::whole(&error).into(),
            // The handler of a dynamic tool would receive this number with a different value.
            Inexact::Number(issue) => Self(issue),
        }
    }
}

/// A call whose arguments are read before its scope is opened.
#[doc(hidden)]
pub trait Entry {
    /// Returns the arguments as JSON text.
    fn text(&self) -> &str;

    /// Opens the scope after the arguments have been read. Arguments that are not `exact` are corrected first; from then on [`text`](Self::text)
    /// returns the corrected text.
    fn enter(&mut self, exact: bool) -> Result<ToolContext, ToolError>;
}

/// Why a run was not started.
#[doc(hidden)]
#[derive(Debug)]
pub enum NotBegun {
    /// The arguments do not match the schema, or cannot be deserialized. The error is set if deserialization gave a reason.
    Unfit(Option<DecodeError>),
    /// The call is refused.
    Refused(ToolError),
}

impl NotBegun {
    pub(crate) fn into_tool_error(self) -> ToolError {
        match self {
            Self::Refused(error) => error,
            Self::Unfit(reason) => misread(reason),
        }
    }
}

/// Starts a run of `T`: reads the arguments now; the body runs when the returned job is polled.
#[doc(hidden)]
pub fn start<T: Tool + Decode>(entry: &mut dyn Entry, _: Ticket) -> Result<Job, NotBegun> {
    let read = args::read::read::<T>(T::SPEC.input, entry.text());
    let unfit = |issue: Option<Issue>| NotBegun::Unfit(issue.map(DecodeError));
    let Reading { mut value, exact } = read.map_err(unfit)?;
    let cx = entry.enter(exact).map_err(NotBegun::Refused)?;
    if !exact {
        // The body must receive the same values that policies, approvals and the audit read.
        let read = args::read::read::<T>(T::SPEC.input, entry.text());
        value = read.map_err(unfit)?.value;
    }
    Ok(Box::pin(finish(run(value, cx.clone()), T::model_view, cx)))
}

/// Returns the run of a tool with typed arguments, which begins when it is polled.
#[inline]
pub(crate) fn run<T: Tool>(
    value: T,
    cx: ToolContext,
) -> impl Future<Output = Result<Returned<T::Output>, ToolError>> + Send + 'static {
    value.run(cx, Pass(()))
}

impl ToolDef {
    /// Decodes the arguments and returns the run.
    pub(crate) fn start(&self, entry: &mut dyn Entry) -> Result<Job, NotBegun> {
        self.begin(entry, Ticket(()))
    }
}
