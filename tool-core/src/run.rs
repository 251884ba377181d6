//! The steps of a call from lookup to result: find the tool, admit the call, decide on it, run its body, and turn a panic or a timeout into an error.

#[cfg(feature = "host")]
use std::borrow::Cow;
use std::future::Future;

use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::ToolContext;
use crate::context::progress::{self, Reporter, Steps};
#[cfg(feature = "host")]
use crate::gate::Gate;
use crate::toolset::Toolset;
use futures::stream::Stream;

#[cfg(feature = "host")]
pub(crate) mod ask;
#[cfg(feature = "host")]
mod attempts;
mod blocking;
mod calls;
#[cfg(feature = "host")]
mod claim;
#[cfg(feature = "host")]
mod closing;
mod drive;
mod end;
#[cfg(feature = "host")]
mod gated;
#[cfg(feature = "host")]
mod grant;
mod guard;
#[cfg(feature = "host")]
pub(crate) mod hooks;
mod judge;
#[cfg(feature = "otel")]
mod otel;
mod prepared;
#[cfg(feature = "host")]
mod record;
#[cfg(feature = "host")]
mod refusal;
#[cfg(feature = "host")]
mod resume;
mod searched;
#[cfg_attr(
    not(feature = "host"),
    expect(unreachable_pub, reason = "exported with the feature `host`")
)]
mod steps;
mod telemetry;
mod typed;
#[cfg(feature = "host")]
mod unbegun;
mod uses;

#[cfg(feature = "host")]
pub use blocking::BlockingPool;
pub use blocking::blocking;
#[cfg(feature = "host")]
pub(crate) use claim::{Before, begun};
#[cfg(feature = "host")]
pub(crate) use end::{fits, within_limit};
pub(crate) use prepared::{Prepared, check_variables, decode};
#[cfg(feature = "host")]
pub(crate) use refusal::refuse;
#[cfg(feature = "host")]
use resume::{is_begun, replay};
#[cfg(feature = "host")]
use resume::{resume, resume_stream};
pub use steps::Permit;
#[cfg(not(feature = "host"))]
use steps::Permitted;
use steps::{Found, Landing, Left, Running};
#[cfg(feature = "host")]
pub use steps::{Permitted, Ran};
use typed::invoke;
#[cfg(feature = "host")]
pub(crate) use unbegun::{close_approved, close_refused};
pub use uses::{At, UsedTools, Uses, UsesTool};

type Progress = Option<Reporter>;

/// Returns the gate that a call passes: the gate of its toolset, else the gate of the outer call. Nested calls of a gated call are
/// gated too.
#[cfg(feature = "host")]
fn gate_of<'a>(toolset: &'a Toolset, cx: &ToolContext) -> Option<Cow<'a, Gate>> {
    match toolset.gate() {
        Some(gate) => Some(Cow::Borrowed(gate)),
        None => Gate::of_scope(cx.scope()?).map(Cow::Owned),
    }
}

/// Runs one call to its end, for [`Toolset::call`].
async fn call(toolset: &Toolset, call: ToolCall, cx: &ToolContext) -> CallResult {
    if toolset.search().is_some() {
        return searched::call(toolset, call, cx).await;
    }
    #[cfg(feature = "host")]
    if let Some(gate) = gate_of(toolset, cx) {
        return gated::call(&gate, toolset, call, cx, None, gated::Origin::Model).await;
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

/// Starts one call and returns its events, for [`Toolset::stream`].
#[expect(
    clippy::result_large_err,
    reason = "a result is moved once, and a box would need an allocation"
)]
fn stream(
    toolset: Toolset,
    call: ToolCall,
    cx: ToolContext,
) -> impl Stream<Item = ToolEvent> + Send + use<> {
    drive::Events::new(move || {
        let (sender, steps) = progress::channel();
        #[cfg(feature = "host")]
        if let Some(gate) = gate_of(&toolset, &cx).map(Cow::into_owned) {
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
