//! Resuming calls that a person has approved, and replaying their stored results.

use futures::stream::Stream;

use super::{Progress, claim, drive, events, gated, grant, record};
use crate::call::{CallResult, ToolCall, ToolEvent, stored};
use crate::context::{Gated, ToolContext, progress};
use crate::error::ToolError;
use crate::gate::Gate;
use crate::store::ApprovalRequest;
use crate::toolset::Toolset;

/// Runs an approved call to its end, for [`Toolset::resume`].
pub(crate) async fn resume(
    toolset: &Toolset,
    token: &str,
    cx: &ToolContext,
    progress: Progress,
) -> CallResult {
    let grant = grant::grant(toolset, token, cx);
    let grant = match cx.deadline() {
        None => grant.await,
        Some(deadline) => {
            let Ok(grant) = tokio::time::timeout_at(deadline, grant).await else {
                let call = ToolCall::new("", "", "");
                return CallResult::refused_in(cx, call, record::not_in_time());
            };
            grant
        }
    };
    match grant {
        Ok((gate, call, grant)) => {
            gated::call(
                gate,
                toolset,
                call,
                cx,
                progress,
                gated::Origin::Approval(Box::new(grant)),
            )
            .await
        }
        Err(refused) => *refused,
    }
}

/// Returns whether the ledger has begun a call whose approval was used already. If the ledger cannot be asked, for example because there is none, the
/// call counts as begun.
pub(crate) async fn is_begun(
    gate: &Gate,
    call: &ToolCall,
    cx: &ToolContext,
    request: &ApprovalRequest,
) -> bool {
    let (Some(ledger), Ok(gated)) = (gate.effects(), Gated::open(cx, call, Some(request))) else {
        return true;
    };
    !matches!(ledger.get(&gated.identity().key()).await, Ok(None))
}

/// Returns the result of a call whose approval was used already.
pub(crate) async fn replay(
    gate: &Gate,
    call: ToolCall,
    cx: &ToolContext,
    request: &ApprovalRequest,
) -> CallResult {
    let stored = match Gated::open(cx, &call, Some(request)) {
        Ok(gated) => claim::replayed(gate, &gated.identity().key()).await,
        Err(error) => Err(error),
    };
    match stored {
        Ok(before) => answered(call, cx, before),
        Err(error) => CallResult::refused_in(cx, call, error),
    }
}

/// Builds the result of a call that has run before.
pub(super) fn answered(call: ToolCall, cx: &ToolContext, before: claim::Before) -> CallResult {
    let redactor = cx.redactor();
    let mut result = CallResult::refused_in(cx, call, ToolError::new(""));
    match before {
        claim::Before::Stored { result: text, .. } => {
            let (outcome, citations) = stored::read(&text);
            result.outcome = redactor.clean(outcome);
            result.citations = redactor.clean(citations);
            result.replayed = true;
        }
        claim::Before::Unsettled(row) => {
            result.outcome = redactor.clean(Err(claim::interrupted(&row)));
            result.found(Some(row));
        }
    }
    result
}

/// Starts an approved call and returns its events, for [`Toolset::resume_stream`].
pub(crate) fn resume_stream(
    toolset: Toolset,
    token: String,
    cx: ToolContext,
) -> impl Stream<Item = ToolEvent> + Send + use<> {
    #[expect(clippy::result_large_err, reason = "the same as for `stream`")]
    let begin = move || {
        let (sender, steps) = progress::channel();
        Ok(events(steps, async move {
            resume(&toolset, &token, &cx, Some(sender)).await
        }))
    };
    drive::Events::new(begin)
}
