//! Verification of an approval token, and the call that may run with it.

use super::{ask, is_begun, replay};
use crate::call::{CallResult, ToolCall};
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::gate::approval::{ApprovalError, Grant, Loaded};
use crate::store::{ApprovalKind, Timestamp};
use crate::toolset::{Approved, Toolset};

fn invalid() -> ToolError {
    ToolError::of(ErrorKind::Denied, "the approval token is invalid")
}

/// Returns the call of a token if the approval belongs to this caller and the call may run. Otherwise returns the result of the call: the stored
/// result of an earlier run, or an error with the reason.
pub(crate) async fn grant<'t>(
    toolset: &'t Toolset,
    token: &str,
    cx: &ToolContext,
) -> Result<(&'t Gate, ToolCall, Grant), Box<CallResult>> {
    let nobody = |error| Box::new(CallResult::refused_in(cx, ToolCall::new("", "", ""), error));
    let Some((gate, approvals)) = toolset
        .gate()
        .and_then(|gate| Some((gate, gate.approvals()?)))
    else {
        let error = invalid()
            .operator("the toolset has no gate with approvals: add one with `Toolset::through`");
        return Err(nobody(error));
    };
    let row = approvals.verify(token).await.map_err(|error| {
        nobody(match error {
            ApprovalError::Invalid => invalid(),
            error => ToolError::of(
                ErrorKind::Unavailable,
                "the approval could not be looked up; try again later",
            )
            .operator(error.to_string()),
        })
    })?;
    let request = &row.request;
    let differs = [
        ("principal", cx.principal() != request.principal),
        (
            "workspace",
            cx.tenant() != request.identity.workspace().as_str(),
        ),
        (
            "conversation",
            cx.conversation() != request.thread.as_deref(),
        ),
        ("agent", cx.agent() != request.agent.as_deref()),
        ("kind of approval", request.kind != ApprovalKind::Call),
    ];
    if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
        tracing::warn!(
            approval = request.id,
            "an approval token was presented with a different {what}"
        );
        let why = format!("the approval was given for a different {what}");
        return Err(nobody(invalid().operator(why)));
    }
    let call = ToolCall::new(
        request.call.as_str(),
        request.tool.clone(),
        request.arguments.clone(),
    );
    let refused = |error| Box::new(CallResult::refused_in(cx, call.clone(), error));
    let now = Timestamp::now();
    let loaded = Loaded::read(row, now);
    match loaded.map_err(|error| {
        refused(ToolError::foreign(error).operator("the approval's row cannot be read"))
    })? {
        Loaded::Asked(asked) => {
            let ticket = approvals.ticket(asked.request());
            let ticket = ticket.map_err(|error| refused(ToolError::foreign(error)))?;
            let mut result = refused(ask::pending(&ticket));
            result.tickets.push(ticket);
            Err(result)
        }
        Loaded::Refused(answer) => Err(refused(ask::denied(answer.reason()))),
        Loaded::Over(over) => Err(refused(ToolError::of(
            ErrorKind::Denied,
            format!("the approval is no longer valid: {}", over.why()),
        ))),
        Loaded::Spent(spent)
            if ask::may_begin(gate, &spent, now)
                && !is_begun(gate, &call, cx, spent.request()).await =>
        {
            same(toolset, gate, call, cx, Grant::Used(spent)).await
        }
        Loaded::Spent(spent) => Err(Box::new(replay(gate, call, cx, spent.request()).await)),
        Loaded::Granted(grant) => same(toolset, gate, call, cx, Grant::Open(grant)).await,
    }
}

/// Returns the call as it was approved. Refuses it if its tool has changed since the approval.
async fn same<'t>(
    toolset: &Toolset,
    gate: &'t Gate,
    call: ToolCall,
    cx: &ToolContext,
    grant: Grant,
) -> Result<(&'t Gate, ToolCall, Grant), Box<CallResult>> {
    let request = grant.request();
    let found = toolset.find_approved(&request.tool, &request.contract);
    if let Some(Approved::Changed(_)) = found {
        if let Some(approvals) = gate.approvals()
            && let Err(error) = approvals
                .store()
                .withdraw(request.identity.workspace(), &request.id)
                .await
        {
            tracing::error!(%error, "an approval of a tool that has changed could not be withdrawn");
        }
        return Err(Box::new(CallResult::refused_in(
            cx,
            call,
            ToolError::of(
                ErrorKind::Denied,
                "the tool has changed since the call was approved, call it again",
            ),
        )));
    }
    let call = ToolCall {
        // The toolset may call the tool by a name that differs from its own.
        name: found.map_or(call.name, |found| found.tool().wire_name().to_owned()),
        arguments: grant.arguments().to_owned(),
        ..call
    };
    Ok((gate, call, grant))
}
