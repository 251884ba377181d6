//! The runs of a call: hooks around each, and a pause between them.

use std::panic::AssertUnwindSafe;

use futures::FutureExt as _;
use tower::ServiceExt as _;

use super::guard;
use super::hooks::{Permitted, Ran};
use super::prepared::{Prepared, begin};
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::gate::{self, Gate};
use crate::tool::{Finished, Job};

/// Runs the tool; one that may be run again, and fails, is.
pub(super) async fn attempts(
    gate: &Gate,
    prepared: &Prepared,
    cx: &ToolContext,
    first: Job,
    once: bool,
) -> (Result<Finished, ToolError>, u32) {
    let retry = gate.retry();
    let def = prepared.tool();
    let most = if def.hints().idempotent && !once {
        retry.attempts.max(1)
    } else {
        1
    };
    let mut job = Some(first);
    let mut wait = retry.wait;
    let mut attempt = 1;
    loop {
        let next = match job.take() {
            Some(job) => job,
            None => match begin(def, prepared.arguments(), cx.clone()) {
                Ok(job) => job,
                Err(error) => return (Err(error), attempt),
            },
        };
        let permitted = Permitted {
            permit: gate::permit(prepared.again()),
            job: next,
        };
        let outcome = match gate.hooks() {
            None => innermost(permitted).await.outcome,
            Some(hooks) => {
                // Boxed, so that calls without hooks do not carry the room for them.
                let run = AssertUnwindSafe(Box::pin(hooks.clone().oneshot(permitted)));
                match run.catch_unwind().await {
                    Ok(Ok(Ran { outcome, .. })) => outcome,
                    Ok(Err(error)) => {
                        Err(ToolError::foreign(error).operator("a hook has ended the call"))
                    }
                    Err(payload) => Err(hook_panicked(&*payload)),
                }
            }
        };
        let Err(error) = &outcome else {
            return (outcome, attempt);
        };
        let again = error.kind() == ErrorKind::Failed && !cx.has_returned();
        if attempt >= most || !again || !cx.runs_again() {
            return (outcome, attempt);
        }
        let pause = error.wait().unwrap_or(wait);
        if cx.remaining().is_some_and(|left| left <= pause) {
            return (outcome, attempt);
        }
        attempt += 1;
        tokio::time::sleep(pause).await;
        wait = wait.saturating_mul(2);
    }
}

/// The error of a panic in a hook. The text of the panic is for the operator.
fn hook_panicked(payload: &(dyn std::any::Any + Send)) -> ToolError {
    ToolError::of(
        ErrorKind::Failed,
        "a part of the host around the tool failed",
    )
    .operator(format!("a hook panicked: {}", guard::panic_text(payload)))
}

/// The run itself, inside every hook.
pub(super) async fn innermost(permitted: Permitted) -> Ran {
    let Permitted { permit, job } = permitted;
    let body = permit.context().clone();
    let job = async move {
        body.set_inside(true);
        let outcome = job.await;
        body.set_inside(false);
        outcome
    };
    let (_, outcome) = super::execute(permit, job).await;
    Ran { outcome }
}
