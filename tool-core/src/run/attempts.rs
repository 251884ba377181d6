//! Runs and retries of a call's body: the host's hooks wrap each run, and there is a pause between two runs.

use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::task::Poll;

use futures::FutureExt as _;
use futures::future::{Either, select};
use tower::ServiceExt as _;

use super::hooks::Hooks;
use super::prepared::begin;
use super::steps::{Body, Claimed, Flight, Left, Permitted, Ran, Running};
use super::{judge, record};
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::panics::panic_text;
use crate::tool::Job;
use crate::toolset::Toolset;

/// The task that drives a call: the task of its caller, or a separate task of the call.
pub(super) trait Pause {
    /// Drives one part of a call. Returns `None` if the caller has dropped the call and the work was dropped before its end.
    fn attend<F: Future + Send>(
        &mut self,
        running: &Running<Flight>,
        work: Pin<&mut F>,
    ) -> impl Future<Output = Option<F::Output>> + Send
    where
        F::Output: Send;
}

/// Runs the body of a claimed call, and repeats it after a failure if the call may be retried.
pub(super) async fn runs<P: Pause>(
    toolset: &Toolset,
    claimed: Claimed<Flight>,
    body: Body<Job>,
    caller: &mut P,
) -> Result<(Running<Flight>, Ran), Left<Flight>> {
    let (permit, mut running) = claimed.permit();
    // The results of earlier reads are stored first: after a crash of this body, those reads must not be repeated.
    if let Some(mut behind) = running.held().context().behind() {
        match caller.attend(&running, Pin::new(&mut behind)).await {
            None => return Err(running.dropped()),
            Some(Err(_)) => return Err(running.refused(unstored())),
            Some(Ok(())) => {}
        }
    }
    // A tool that was switched off while a row was written does not run.
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
        if judge::still_allowed(cx).is_err() {
            // The outcome of the earlier run is the outcome of the call.
            return Ok((running, ran));
        }
        let body = match begin(prepared.tool(), prepared.arguments(), cx.clone()) {
            Ok(job) => Body::new(job),
            // A typed call may contain arguments that its JSON text cannot restore.
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

/// Returns the error of a call that was not made because its turn could not store the result of an earlier call.
fn unstored() -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the call was not made, because the host could not store the result of an earlier call",
    )
}

/// Runs the body, and cancels it when the kill switch of its tool is turned on.
async fn watched(toolset: &Toolset, running: &Running<Flight>, permitted: Permitted) -> Ran {
    let mut run = pin!(hooked(running.held().gate(), permitted));
    if !toolset.can_be_killed() {
        return run.await;
    }
    // A run that is ready at its first poll needs no kill switch.
    if let Poll::Ready(ran) = poll_fn(|task| Poll::Ready(run.as_mut().poll(task))).await {
        return ran;
    }
    let cx = running.held().context();
    let tool = running.held().prepared().tool();
    match select(run.as_mut(), pin!(toolset.killed(tool, cx.tenant()))).await {
        Either::Left((ran, _)) => ran,
        Either::Right(((), run)) => {
            cx.cancel();
            run.await
        }
    }
}

/// Runs the body inside the host's hooks. An error or a panic of a hook becomes the result of the call.
fn hooked(gate: &Gate, permitted: Permitted) -> impl Future<Output = Ran> + Send {
    let Some(hooks) = gate.hooks::<Hooks>() else {
        return Either::Left(permitted.run());
    };
    // The run is boxed, so that calls without hooks do not reserve memory for them.
    let run = AssertUnwindSafe(Box::pin(hooks.clone().oneshot(permitted)));
    Either::Right(run.catch_unwind().map(|ended| match ended {
        Ok(Ok(ran)) => ran,
        Ok(Err(error)) => {
            Ran::failed(ToolError::foreign(error).operator("a hook returned an error"))
        }
        Err(payload) => Ran::failed(hook_panicked(&*payload)),
    }))
}

/// Returns the error of a panic in a hook. Only the operator sees the text of the panic.
fn hook_panicked(payload: &(dyn std::any::Any + Send)) -> ToolError {
    ToolError::of(ErrorKind::Failed, "a hook of the host failed")
        .operator(format!("a hook panicked: {}", panic_text(payload)))
}
