//! The runs of a call: hooks around each, and a pause between them.

use tower::ServiceExt as _;

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
            Some(hooks) => match hooks.clone().oneshot(permitted).await {
                Ok(Ran { outcome, .. }) => outcome,
                Err(error) => Err(ToolError::foreign(error).operator("a hook has ended the call")),
            },
        };
        let Err(error) = &outcome else {
            return (outcome, attempt);
        };
        if attempt >= most || error.kind() != ErrorKind::Failed || !cx.runs_again() {
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
