//! The runs of a call: hooks around each, and a pause between them.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::task::Poll;

use futures::FutureExt as _;
use futures::future::{Either, select};
use tower::ServiceExt as _;

use super::prepared::begin;
use super::steps::{Body, Claimed, Flight, Left, Permitted, Ran, Running};
use super::{guard, record};
use crate::error::{ErrorKind, ToolError};
use crate::gate::{self, Gate};
use crate::tool::Job;
use crate::toolset::Toolset;

/// The side that waits for a call: its caller, or the task that the call has for itself.
pub(super) trait Pause {
    /// Does a part of a call. Returns `None` where the caller went away; the rest of the work is dropped then.
    fn attend<F: Future + Send>(
        &mut self,
        running: &Running<Flight>,
        work: Pin<&mut F>,
    ) -> impl Future<Output = Option<F::Output>> + Send
    where
        F::Output: Send;
}

/// Runs the body of a claimed call; one that may be run again, and fails, is.
pub(super) async fn runs<P: Pause>(
    toolset: &Toolset,
    claimed: Claimed<Flight>,
    body: Body<Job>,
    caller: &mut P,
) -> Result<(Running<Flight>, Ran), Left<Flight>> {
    let (permit, mut running) = claimed.permit();
    // A crash must not repeat a read before this call after its body has begun.
    if let Some(mut behind) = running.held().context().behind() {
        match caller.attend(&running, Pin::new(&mut behind)).await {
            None => return Err(running.dropped()),
            Some(Err(_)) => return Err(running.refused(unstored())),
            Some(Ok(())) => {}
        }
    }
    // What was switched off while a row was written does not run.
    if running.is_recorded() {
        let reread = {
            let reread = toolset.reread_switches(running.is_claimed());
            let reread = pin!(record::in_time(running.held().context().deadline(), reread));
            caller.attend(&running, reread).await
        };
        match reread {
            None => return Err(running.dropped()),
            Some(Err(error)) => return Err(running.refused(error)),
            Some(Ok(())) => {}
        }
    }
    let mut permitted = permit.with(body);
    let mut tries = 0;
    loop {
        tries += 1;
        running.counts_run();
        let ran = {
            let work = pin!(watched(toolset, &running, permitted));
            caller.attend(&running, work).await
        };
        let Some(ran) = ran else {
            return Err(running.dropped());
        };
        let retry = running.held().gate().retry();
        if tries >= retry.attempts || !running.may_repeat(&ran) {
            return Ok((running, ran));
        }
        let doubled = retry.wait.saturating_mul(1 << (tries - 1).min(16));
        let pause = ran.error().and_then(ToolError::wait).unwrap_or(doubled);
        let cx = running.held().context();
        if cx.remaining().is_some_and(|left| left <= pause) {
            return Ok((running, ran));
        }
        let paused = {
            let pause = pin!(tokio::time::sleep(pause));
            caller.attend(&running, pause).await
        };
        if paused.is_none() {
            return Err(running.dropped());
        }
        let (cx, prepared) = (running.held().context(), running.held().prepared());
        if gate::still_allowed(cx).is_err() {
            // What the earlier run has said is the end of the call.
            return Ok((running, ran));
        }
        let body = match begin(prepared.tool(), prepared.arguments(), cx.clone()) {
            Ok(job) => Body::new(job),
            // A typed call may hold arguments that its JSON text does not give back.
            Err(_) => return Ok((running, ran)),
        };
        let permit;
        (permit, running) = match running.again(ran) {
            Ok(claimed) => claimed.permit(),
            Err(ended) => return Ok(ended),
        };
        permitted = permit.with(body);
    }
}

/// The error of a call whose turn could not store what came before it.
fn unstored() -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the call was not made, because the host could not store the result of an earlier call",
    )
}

/// Runs the body, and cancels it when its kill switch is used.
async fn watched(toolset: &Toolset, running: &Running<Flight>, permitted: Permitted) -> Ran {
    let mut run = pin!(hooked(running.held().gate(), permitted));
    if !toolset.can_be_killed() {
        return run.await;
    }
    // A run that never waits needs nobody who could stop it.
    if let Poll::Ready(ran) = poll_fn(|task| Poll::Ready(run.as_mut().poll(task))).await {
        return ran;
    }
    let cx = running.held().context();
    let tool = running.held().prepared().tool().name();
    match select(run.as_mut(), pin!(toolset.killed(tool, cx.tenant()))).await {
        Either::Left((ran, _)) => ran,
        Either::Right(((), run)) => {
            cx.cancel();
            run.await
        }
    }
}

/// Runs the body inside of the host's hooks. What a hook does to a call, a panic included, is a result.
fn hooked(gate: &Gate, permitted: Permitted) -> impl Future<Output = Ran> + Send {
    let Some(hooks) = gate.hooks() else {
        return Either::Left(permitted.run());
    };
    // Boxed, so that calls without hooks do not carry the room for them.
    let run = AssertUnwindSafe(Box::pin(hooks.clone().oneshot(permitted)));
    Either::Right(run.catch_unwind().map(|ended| match ended {
        Ok(Ok(ran)) => ran,
        Ok(Err(error)) => {
            Ran::failed(ToolError::foreign(error).operator("a hook has ended the call"))
        }
        Err(payload) => Ran::failed(hook_panicked(&*payload)),
    }))
}

/// The error of a panic in a hook. The text of the panic is for the operator.
fn hook_panicked(payload: &(dyn std::any::Any + Send)) -> ToolError {
    ToolError::of(
        ErrorKind::Failed,
        "a part of the host around the tool failed",
    )
    .operator(format!("a hook panicked: {}", guard::panic_text(payload)))
}
