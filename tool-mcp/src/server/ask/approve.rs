//! Approvals by the client's user: the gate's own tickets, brought by the questions of tools.

use rmcp::ErrorData;
use serde::Deserialize;
use tool_core::private::next_identity;
use tool_core::store::CallId;
use tool_core::{
    Answer, CallResult, ErrorKind, Question, Reply, Ticket, ToolCall, ToolContext, Toolset,
};

use super::Given;
use crate::server::call::Start;

/// What the form of an approval gives.
#[derive(Deserialize)]
struct Form {
    approve: bool,
}

const SCHEMA: &str = r#"{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve","description":"Whether the call may run."}},"required":["approve"]}"#;

/// The first ticket that the client's user can answer: of the call itself or of a call that its tool makes, and not one that somebody
/// else has to answer.
pub(crate) fn ticket(result: &CallResult) -> Option<&Ticket> {
    let waits = result
        .error()
        .is_some_and(|error| error.kind() == ErrorKind::Pending);
    let mut tickets = result.tickets().iter();
    tickets.find(|ticket| waits && !ticket.four_eyes)
}

/// The same caller with an identity for the call, so that the gate knows the call when it is made again after an approval.
pub(crate) fn identified(cx: &ToolContext) -> Result<ToolContext, ErrorData> {
    if next_identity(cx).is_some() {
        return Ok(cx.clone());
    }
    let identity = CallId::alone(cx.own_workspace());
    let identity = identity.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(cx.for_call(identity))
}

/// How a call goes on once its ticket is answered: its own approval is used by its token, and for that of a call which its tool makes
/// the tool is called again and makes it again.
pub(crate) fn next(call: ToolCall, token: String, is_nested: bool) -> Start {
    if is_nested {
        Start::Call(call)
    } else {
        Start::Resume(call, token)
    }
}

/// What the user reads: the tool, its arguments, and why it is asked.
pub(crate) fn question(ticket: &Ticket) -> Question {
    let reason = ticket
        .reason
        .as_deref()
        .map(|reason| format!(" ({reason})"));
    let message = format!(
        "May `{}` run with {}?{}",
        ticket.tool,
        ticket.arguments,
        reason.unwrap_or_default()
    );
    Question::new(message, SCHEMA)
}

/// Writes an answer down; `false` where there was none, and the approval goes on waiting.
///
/// Whether the call may run is asked of the gate again when it is resumed, also where the answer could not be written: somebody else
/// may have been faster.
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
