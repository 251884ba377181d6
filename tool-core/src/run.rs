//! From a call to its result: look up, admit, decide, run under guard.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::Ordering;

use crate::args::{self, Inexact, Issue};
use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::{CallScope, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::gate::{self, Permit};
use crate::tool::{Job, Tool};
use crate::toolset::Toolset;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::stream::Stream;
use serde::de::DeserializeOwned;

#[cfg(feature = "host")]
mod attempts;
mod blocking;
#[cfg(feature = "host")]
mod claim;
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
mod resume;
#[cfg(feature = "host")]
pub(crate) mod stored;
mod telemetry;
mod typed;

#[cfg(feature = "host")]
pub use blocking::BlockingPool;
pub use blocking::blocking;
pub(crate) use drive::finish;
use end::{closed, redacted};
#[cfg(feature = "host")]
pub(crate) use guard::{panic_text, store_step};
pub(crate) use prepared::{Prepared, check, check_variables, decode};
use prepared::{check_secrets, enter, prepare};
#[cfg(feature = "host")]
pub(crate) use resume::{is_begun, replay, resume, resume_stream};
pub(crate) use typed::invoke;

/// The right to start a run. Only this crate makes one, so that nobody else calls a [`Start`](crate::tool::Start).
#[doc(hidden)]
pub struct Ticket(());

/// Shown to a tool's `run`. Only this crate makes one.
#[doc(hidden)]
pub struct Pass(());

/// serde refused what the schema admits: a `Deserialize` of the user's own is stricter than its type's schema.
#[doc(hidden)]
#[derive(Debug)]
pub struct DecodeError(Undecoded);

/// Why.
#[derive(Debug)]
enum Undecoded {
    Serde(serde_json::Error),
    /// A number that the handler of a dynamic tool would get as another one.
    Number(Issue),
}

impl DecodeError {
    pub(crate) fn new(error: serde_json::Error) -> Self {
        Self(Undecoded::Serde(error))
    }

    fn into_tool_error(self) -> ToolError {
        match self.0 {
            Undecoded::Serde(error) => ToolError::of(
                ErrorKind::InvalidArguments,
                format!("the arguments do not fit: {error}"),
            ),
            Undecoded::Number(issue) => ToolError::invalid_arguments(vec![issue]),
        }
    }
}

impl From<Inexact> for DecodeError {
    fn from(error: Inexact) -> Self {
        Self(match error {
            Inexact::Json(error) => Undecoded::Serde(error),
            Inexact::Number(issue) => Undecoded::Number(issue),
        })
    }
}

/// Starts a run of `T`: decodes now, runs when polled.
#[doc(hidden)]
pub fn start<T: Tool + DeserializeOwned>(
    text: &str,
    cx: ToolContext,
    _: Ticket,
) -> Result<Job, DecodeError> {
    let input: T = args::decode(text).map_err(DecodeError::new)?;
    Ok(Box::pin(async move {
        let returned = input.run(cx.clone(), Pass(())).await?;
        finish(returned, T::model_view, &cx).await
    }))
}

type Progress = Option<UnboundedSender<ToolEvent>>;

/// Runs what the gate permitted, and closes the scope however it ends.
async fn execute<R>(
    permit: Permit,
    job: impl Future<Output = Result<R, ToolError>> + Send,
) -> (Prepared, Result<R, ToolError>) {
    /// Tells blocking code that nobody waits any more, also when the run is dropped.
    struct Ended<'a>(&'a CallScope);
    impl Drop for Ended<'_> {
        fn drop(&mut self) {
            self.0.ended.store(true, Ordering::Relaxed);
        }
    }
    let prepared = permit.spend();
    let ended = Ended(&prepared.scope);
    #[cfg(feature = "otel")]
    otel::announce(&prepared);
    let outcome = {
        let job = pin!(guard::guarded(job, &prepared.cx));
        prepared.span.run(job).await
    };
    drop(ended);
    (prepared, outcome)
}

/// The gate that a call passes: its toolset's, else that of the call that makes it. What a gated call calls is gated.
#[cfg(feature = "host")]
fn gate_of<'a>(toolset: &'a Toolset, cx: &'a ToolContext) -> Option<&'a gate::Gate> {
    toolset.gate().or_else(|| cx.outer_gate())
}

/// See [`Toolset::call`].
pub(crate) async fn call(toolset: &Toolset, call: ToolCall, cx: &ToolContext) -> CallResult {
    if toolset.search().is_some() {
        return toolset.call_opened(call, cx).await;
    }
    #[cfg(feature = "host")]
    if let Some(gate) = gate_of(toolset, cx) {
        return gated::call(gate, toolset, call, cx, None, gated::From::Model).await;
    }
    let (prepared, job) = match prepare(toolset, call, cx, None) {
        Ok(ready) => ready,
        Err(refused) => return refused,
    };
    match gate::decide(toolset, prepared) {
        Ok(permit) => {
            let (prepared, outcome) = execute(permit, job).await;
            closed(toolset, prepared, outcome).await
        }
        Err((prepared, error)) => prepared.result(Err(error)),
    }
}

/// See [`Toolset::stream`].
#[expect(clippy::result_large_err, reason = "as of `prepare`")]
pub(crate) fn stream(
    toolset: Toolset,
    call: ToolCall,
    cx: ToolContext,
) -> impl Stream<Item = ToolEvent> + Send + use<> {
    drive::Events::new(move || {
        let (sender, steps) = unbounded();
        #[cfg(feature = "host")]
        if let Some(gate) = gate_of(&toolset, &cx).cloned() {
            return Ok(events(steps, async move {
                gated::call(&gate, &toolset, call, &cx, Some(sender), gated::From::Model).await
            }));
        }
        let (prepared, job) = prepare(&toolset, call, &cx, Some(sender.clone()))?;
        match gate::decide(&toolset, prepared) {
            Ok(permit) => {
                let _ = sender.unbounded_send(ToolEvent::Started);
                Ok(events(steps, async move {
                    let (prepared, outcome) = execute(permit, job).await;
                    closed(&toolset, prepared, outcome).await
                }))
            }
            Err((prepared, error)) => Err(prepared.result(Err(error))),
        }
    })
}

fn events(
    steps: UnboundedReceiver<ToolEvent>,
    run: impl Future<Output = CallResult> + Send + 'static,
) -> drive::Running {
    (steps, Box::pin(run))
}
