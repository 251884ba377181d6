//! Whether a judged call may go on: at once, by an approval, or not yet.

use super::approval::{Approval, Approvals, Granted, Loaded, Ticket};
use super::hash::{contract, random_id};
use super::{Gate, Judged, Says, canonical};
use crate::error::{ErrorKind, ToolError};
use crate::run::Prepared;
use crate::store::{ApprovalFilter, ApprovalKind, ApprovalRequest, StoreError, Timestamp};

/// What became of the question.
pub(crate) enum Asked {
    /// There was none.
    Not,
    /// A person has said yes, and this call has used that up.
    Approved { id: String, approver: String },
    /// A person has said yes, and the call has run already.
    Used { id: String },
    /// A person has to say something.
    Waits(Box<Ticket>),
}

/// The error of a call that waits.
pub(crate) fn pending(ticket: &Ticket) -> ToolError {
    let text = "the call has to be approved by a person first";
    ToolError::of(ErrorKind::Pending, text)
        .operator(format!("it waits as approval `{}`", ticket.id))
}

fn failed(error: &StoreError) -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the call was not made, because its approval could not be looked up",
    )
    .operator(format!("the approval store failed: {error}"))
}

pub(crate) fn denied(reason: Option<&str>) -> ToolError {
    let text = match reason {
        Some(reason) => format!("a person has denied the call: {reason}"),
        None => "a person has denied the call".to_owned(),
    };
    ToolError::of(ErrorKind::Denied, text)
}

/// Lets a judged call go on, or says why not.
pub(crate) async fn pass(
    gate: &Gate,
    prepared: &Prepared,
    judged: &Judged,
    grant: Option<Box<Approval<Granted>>>,
) -> Result<Asked, ToolError> {
    let now = Timestamp::now();
    if judged.says == Says::Deny {
        if let (Some(grant), Some(approvals)) = (grant, gate.approvals()) {
            approvals
                .store()
                .withdraw(&grant.request().id)
                .await
                .map_err(|error| failed(&error))?;
        }
        let text = match &judged.reason {
            Some(reason) => format!("the call is not allowed: {reason}"),
            None => "the call is not allowed here".to_owned(),
        };
        let error = ToolError::of(ErrorKind::Denied, text);
        return Err(match &judged.id {
            Some(id) => error.operator(format!("decision {id} of policy {}", judged.policy)),
            None => error,
        });
    }
    let Some(grant) = grant else {
        if judged.says == Says::Allow {
            return Ok(Asked::Not);
        }
        let Some(approvals) = gate.approvals() else {
            return Err(ToolError::of(
                ErrorKind::Pending,
                "the call has to be approved by a person first",
            )
            .operator(
                "the gate has no approvals, so nobody can be asked: `Gate::builder().approvals(…)`",
            ));
        };
        return match earlier(approvals, prepared, judged, now).await? {
            Some(Loaded::Asked(asked)) => {
                let ticket = approvals.ticket_of(&asked.request().id).await;
                let ticket = ticket.map_err(|error| {
                    ToolError::foreign(error).operator("a ticket could not be issued")
                })?;
                Ok(Asked::Waits(Box::new(ticket)))
            }
            Some(Loaded::Granted(grant)) if !grant.is_edited() => {
                spend(approvals, grant, now).await
            }
            Some(Loaded::Refused(refused)) => Err(denied(refused.reason())),
            Some(Loaded::Spent(spent)) => Ok(Asked::Used {
                id: spent.request().id.clone(),
            }),
            _ => ask(approvals, prepared, judged, now).await,
        };
    };
    let Some(approvals) = gate.approvals() else {
        return Err(ToolError::of(
            ErrorKind::Denied,
            "this is no valid approval",
        ));
    };
    if *grant.request().policy != *judged.policy {
        // What was approved was approved under other rules.
        approvals
            .store()
            .withdraw(&grant.request().id)
            .await
            .map_err(|error| failed(&error))?;
        return ask(approvals, prepared, judged, now).await;
    }
    spend(approvals, *grant, now).await
}

async fn spend(
    approvals: &Approvals,
    grant: Approval<Granted>,
    now: Timestamp,
) -> Result<Asked, ToolError> {
    let id = grant.request().id.clone();
    Ok(
        match grant
            .spend(approvals.store(), now)
            .await
            .map_err(|error| failed(&error))?
        {
            Some(spent) => Asked::Approved {
                id,
                approver: spent.approver().to_owned(),
            },
            None => Asked::Used { id },
        },
    )
}

/// The call's arguments, as an approval is bound to them.
fn arguments(prepared: &Prepared) -> Result<String, ToolError> {
    canonical::canonical(prepared.arguments())
        .ok_or_else(|| ToolError::new("the arguments are nested too deep to be approved"))
}

/// The approval of an earlier dispatch of the very same call: same turn, id, arguments, contract and policy.
async fn earlier(
    approvals: &Approvals,
    prepared: &Prepared,
    judged: &Judged,
    now: Timestamp,
) -> Result<Option<Loaded>, ToolError> {
    let cx = prepared.context();
    let filter = ApprovalFilter {
        tenant: Some(cx.workspace().unwrap_or_default().to_owned()),
        principal: Some(cx.user().unwrap_or_default().to_owned()),
        turn: Some(cx.turn().unwrap_or_default().to_owned()),
        tool: Some(prepared.tool().name().to_owned()),
        kind: Some(ApprovalKind::Call),
        ..ApprovalFilter::default()
    };
    let (call, contract, arguments) = (
        cx.call_path(),
        contract(prepared.tool()),
        arguments(prepared)?,
    );
    let rows = approvals
        .store()
        .list(&filter)
        .await
        .map_err(|error| failed(&error))?;
    // The last one counts: an earlier one was withdrawn or has expired.
    let own = rows.into_iter().rev().find(|row| {
        let request = &row.request;
        request.call == call
            && request.contract == contract
            && request.arguments == arguments
            && *request.policy == *judged.policy
    });
    own.map(|row| Loaded::read(row, now))
        .transpose()
        .map_err(|error| failed(&error))
}

/// Asks a person.
async fn ask(
    approvals: &Approvals,
    prepared: &Prepared,
    judged: &Judged,
    now: Timestamp,
) -> Result<Asked, ToolError> {
    let cx = prepared.context();
    let request = ApprovalRequest {
        id: random_id()?,
        kind: ApprovalKind::Call,
        thread: cx.conversation().map(str::to_owned),
        turn: cx.turn().unwrap_or_default().to_owned(),
        call: cx.call_path(),
        tool: prepared.tool().name().to_owned(),
        tenant: cx.workspace().unwrap_or_default().to_owned(),
        principal: cx.user().unwrap_or_default().to_owned(),
        agent: cx.agent().map(str::to_owned),
        contract: contract(prepared.tool()),
        arguments: arguments(prepared)?,
        policy: judged.policy.to_string(),
        decision: judged.id.map(|id| id.to_string()).unwrap_or_default(),
        four_eyes: judged.four_eyes,
        reason: judged.reason.as_deref().map(str::to_owned),
        nonce: random_id()?,
        created: now,
        expires: approvals.expiry(now),
        parent: cx.parent_call().map(str::to_owned),
    };
    approvals
        .ask(request)
        .await
        .map(|ticket| Asked::Waits(Box::new(ticket)))
        .map_err(|error| failed(&error))
}
