//! Approvals by the client's user: the gate's own tickets, brought by the questions of tools.

use serde::Deserialize;
use tool_core::{Answer, CallResult, ErrorKind, Question, Reply, Ticket, ToolContext, Toolset};

use super::Given;

/// What the form of an approval gives.
#[derive(Deserialize)]
struct Form {
    approve: bool,
}

const SCHEMA: &str = r#"{"type":"object","properties":{"approve":{"type":"boolean","title":"Approve","description":"Whether the call may run."}},"required":["approve"]}"#;

/// The ticket that the client's user can answer: of the call itself, and not one that somebody else has to answer.
pub(crate) fn ticket(result: &CallResult) -> Option<&Ticket> {
    let waits = result
        .error()
        .is_some_and(|error| error.kind() == ErrorKind::Pending);
    match result.tickets() {
        [ticket] if waits && ticket.parent.is_none() && !ticket.four_eyes => Some(ticket),
        _ => None,
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
