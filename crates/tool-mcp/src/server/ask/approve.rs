//! Approval of calls by the MCP client's user: the gate's tickets, sent to the client as elicitation questions.

use rmcp::ErrorData;
use serde::Deserialize;
use tool_core::__private0::next_identity;
use tool_core::store::CallId;
use tool_core::{
    Answer, CallResult, ErrorKind, Question, Reply, Ticket, ToolCall, ToolContext, Toolset,
};

use super::Given;
use crate::server::call::Start;

/// The answer to the approval form.
#[derive(Deserialize)]
struct Form {
    approve: bool,
}

const SCHEMA: &str = r#"{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve","description":"Whether the call may run."}},"required":["approve"]}"#;

/// Returns the first ticket that the client's user can answer: for the call itself or for a
/// nested call that its tool makes. Tickets that need a second person (`four_eyes`) are skipped.
pub(crate) fn ticket(result: &CallResult) -> Option<&Ticket> {
    let waits = result
        .error()
        .is_some_and(|error| error.kind() == ErrorKind::Pending);
    let mut tickets = result.tickets().iter();
    tickets.find(|ticket| waits && !ticket.four_eyes)
}

/// Returns the context with a call identity, so that the gate recognizes the call when it is repeated after an approval.
pub(crate) fn identified(cx: &ToolContext) -> Result<ToolContext, ErrorData> {
    if next_identity(cx).is_some() {
        return Ok(cx.clone());
    }
    let identity = CallId::alone(cx.own_workspace());
    let identity = identity.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(cx.for_call(identity))
}

/// Returns how a call continues after its ticket is answered. A call is resumed with the token of its own
/// ticket. If the ticket was for a nested call, the outer tool is called again and makes the nested call
/// again.
pub(crate) fn next(call: ToolCall, token: String, is_nested: bool) -> Start {
    if is_nested {
        Start::Call(call)
    } else {
        Start::Resume(call, token)
    }
}

/// Returns the question that the user reads: the tool, its arguments, and the reason why approval is needed.
pub(crate) fn question(ticket: &Ticket) -> Question {
    let reason = ticket
        .reason
        .as_deref()
        .map(|reason| format!(" ({reason})"));
    let message = format!(
        "Allow `{}` to run with {}?{}",
        ticket.tool,
        ticket.arguments,
        reason.unwrap_or_default()
    );
    Question::new(message, SCHEMA)
}

/// Records the user's answer. Returns `false` without a valid answer; the approval then stays pending.
///
/// Returns `true` even if the answer could not be stored, because a different person may have answered first. When the call
/// is resumed, the gate checks again whether the call may run.
pub(crate) async fn decide(tools: &Toolset, token: &str, answer: &Given, cx: &ToolContext) -> bool {
    let reply = match answer {
        Answer::Given(text) => match serde_json::from_str(text.get()) {
            Ok(Form { approve: true }) => Reply::Approve,
            Ok(Form { approve: false }) => Reply::Deny,
            Err(_) => return false,
        },
        Answer::Declined => Reply::Deny,
        Answer::Dismissed => return false,
    };
    let approver = cx.user().unwrap_or("the client's user");
    if let Some(approvals) = tools.gate().and_then(|gate| gate.approvals())
        && let Err(error) = approvals
            .answer(&cx.own_workspace(), tools, token, reply, approver, None)
            .await
    {
        tracing::debug!(%error, "an approval could not be answered");
    }
    true
}
