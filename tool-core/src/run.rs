//! The steps of a call from lookup to result: find the tool, admit the call, decide on it, run its body under guard.

use std::future::Future;

use crate::args::read::{Decode, Reading};
use crate::args::{self, Inexact, Issue, Misread};
use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::ToolContext;
use crate::context::progress::{self, Reporter, Steps};
use crate::error::ToolError;
#[cfg(feature = "host")]
use crate::gate;
use crate::tool::{Job, Tool};
use crate::toolset::Toolset;
use futures::stream::Stream;

#[cfg(feature = "host")]
mod attempts;
mod blocking;
#[cfg(feature = "host")]
mod claim;
#[cfg(feature = "host")]
mod closing;
mod drive;
mod end;
#[cfg(feature = "host")]
mod gated;
mod guard;
#[cfg(feature = "host")]
pub(crate) mod hooks;
#[cfg(feature = "otel")]
mod otel;
mod prepared;
#[cfg(feature = "host")]
mod record;
#[cfg(feature = "host")]
mod refusal;
#[cfg(feature = "host")]
mod resume;
#[cfg_attr(
    not(feature = "host"),
    expect(unreachable_pub, reason = "exported with the feature `host`")
)]
mod steps;
#[cfg(feature = "host")]
pub(crate) mod stored;
mod telemetry;
mod typed;
#[cfg(feature = "host")]
mod unbegun;

#[cfg(feature = "host")]
pub use blocking::BlockingPool;
pub use blocking::blocking;
#[cfg(feature = "host")]
pub(crate) use claim::{Before, begun};
pub(crate) use drive::finish;
pub(crate) use prepared::{Prepared, check_variables, decode};
#[cfg(feature = "host")]
pub(crate) use refusal::refuse;
#[cfg(feature = "host")]
pub(crate) use resume::{is_begun, replay, resume, resume_stream};
pub use steps::Permit;
#[cfg(not(feature = "host"))]
use steps::Permitted;
use steps::{Found, Landing, Left, Running};
#[cfg(feature = "host")]
pub use steps::{Permitted, Ran};
pub(crate) use typed::invoke;
#[cfg(feature = "host")]
pub(crate) use unbegun::{close_approved, close_refused};

/// The right to start a run. Only this crate can create it, so other crates cannot call a [`Start`](crate::tool::Start).
#[doc(hidden)]
pub struct Ticket(());

/// The right to call a tool's `run`. Only this crate can create it.
#[doc(hidden)]
pub struct Pass(());

/// serde rejected arguments that fit the schema: a custom `Deserialize` impl is stricter than the schema of its type.
#[doc(hidden)]
#[derive(Debug)]
pub struct DecodeError(Issue);

impl DecodeError {
    fn into_tool_error(self) -> ToolError {
        ToolError::invalid_arguments(vec![self.0])
    }
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
            // A number that the handler of a dynamic tool would receive with a different value.
            Inexact::Number(issue) => Self(issue),
        }
    }
}

/// A call whose arguments are read before its scope is opened.
#[doc(hidden)]
pub trait Entry {
    /// The arguments as JSON text.
    fn text(&self) -> &str;

    /// Opens the scope after the arguments have been read. Arguments that are not `exact` are corrected first; from then on [`text`](Self::text)
    /// returns the corrected text.
    fn enter(&mut self, exact: bool) -> Result<ToolContext, ToolError>;
}

/// Why a run was not started.
#[doc(hidden)]
#[derive(Debug)]
pub enum NotBegun {
    /// The arguments do not fit the schema. The error is set if a custom `Deserialize` impl gave a reason.
    Unfit(Option<DecodeError>),
    /// The call is refused.
    Refused(ToolError),
}

impl NotBegun {
    fn into_tool_error(self) -> ToolError {
        match self {
            Self::Refused(error) => error,
            Self::Unfit(reason) => prepared::misread(reason),
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
    let body = value.run(cx.clone(), Pass(()));
    Ok(Box::pin(finish(body, T::model_view, cx)))
}

type Progress = Option<Reporter>;

/// The gate that a call passes: the gate of its toolset, else the gate of the outer call. Nested calls of a gated call are gated too.
#[cfg(feature = "host")]
fn gate_of<'a>(toolset: &'a Toolset, cx: &'a ToolContext) -> Option<&'a gate::Gate> {
    toolset.gate().or_else(|| cx.outer_gate())
}

/// Implements [`Toolset::call`].
pub(crate) async fn call(toolset: &Toolset, call: ToolCall, cx: &ToolContext) -> CallResult {
    if toolset.search().is_some() {
        return toolset.call_opened(call, cx).await;
    }
    #[cfg(feature = "host")]
    if let Some(gate) = gate_of(toolset, cx) {
        return gated::call(gate, toolset, call, cx, None, gated::Origin::Model).await;
    }
    match permitted(toolset, call, cx, None) {
        Ok((permitted, running)) => {
            let ran = permitted.run().await;
            match running.land(toolset, ran) {
                Landing::Over(landed) => landed.into_result(),
                Landing::Writing(landing) => landing.await.into_result(),
            }
        }
        Err(left) => left.land(cx).into_result(),
    }
}

/// Runs every step before the body of a call without a gate. None of these steps waits.
#[inline]
fn permitted(
    toolset: &Toolset,
    call: ToolCall,
    cx: &ToolContext,
    progress: Progress,
) -> Result<(Permitted, Running<Prepared>), Left<Prepared>> {
    let (admitted, body) = Found::ungated(toolset, call, cx, progress)?.admit(cx)?;
    let (permit, running) = admitted.judge().clear()?.claim().permit();
    Ok((permit.with(body), running))
}

/// Implements [`Toolset::stream`].
#[expect(
    clippy::result_large_err,
    reason = "a result is moved once, a box would cost it an allocation"
)]
pub(crate) fn stream(
    toolset: Toolset,
    call: ToolCall,
    cx: ToolContext,
) -> impl Stream<Item = ToolEvent> + Send + use<> {
    drive::Events::new(move || {
        let (sender, steps) = progress::channel();
        #[cfg(feature = "host")]
        if let Some(gate) = gate_of(&toolset, &cx).cloned() {
            return Ok(events(steps, async move {
                let origin = gated::Origin::Model;
                gated::call(&gate, &toolset, call, &cx, Some(sender), origin).await
            }));
        }
        match permitted(&toolset, call, &cx, Some(sender)) {
            Ok((permitted, running)) => Ok(events(steps, async move {
                let ran = permitted.run().await;
                running.land(&toolset, ran).ended().await.into_result()
            })),
            Err(left) => Err(left.land(&cx).into_result()),
        }
    })
}

fn events(steps: Steps, run: impl Future<Output = CallResult> + Send + 'static) -> drive::Running {
    (steps, Box::pin(run))
}
