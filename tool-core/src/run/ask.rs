//! Check of a call's approval: run the call now, ask a person, or wait.

use super::judge::Judgement;
use super::{Before, Prepared, close_approved};
use crate::args;
use crate::call::Ticket;
use crate::call::{CallResult, ToolCall, stored};
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::gate::approval::{Approval, Approvals, Grant, Granted, Loaded, Spent};
use crate::store::{
    ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStatus, CallId, CallKey,
    Scope, StoreError, Timestamp, Verdict,
};

/// Evidence that a person has approved a call and that the approval is used up. Either this run used it, or an earlier run did; in the second case, only the
/// ledger records whether the earlier run has begun. Only this file creates this type.
#[derive(Debug)]
pub(crate) struct Approved {
    id: String,
    approver: String,
}

impl Approved {
    /// Returns the approval's id and the approver's name.
    pub(crate) fn into_names(self) -> (String, String) {
        (self.id, self.approver)
    }
}

/// The outcome of the approval check.
pub(crate) enum Asked {
    /// A person has approved the call.
    Approved(Approved),
    /// The approval was used, and no run may begin on it. The call can only get the result that the ledger has stored.
    Used { id: String },
    /// The call has begun before, so no approval is requested.
    Before(Before),
    /// The approver has edited the arguments. The call has to be made again with the edited arguments.
    Edited(Box<Grant>),
    /// The call waits for a person's answer.
    Waits(Box<Ticket>),
}

/// Context service that marks a call which may ask for an approval but must not run, because an earlier call of its message waits.
#[derive(Clone, Copy)]
pub(crate) struct AskOnly;

/// Returns whether a call may ask for an approval but must not run.
pub(crate) fn only_asks(cx: &ToolContext) -> bool {
    cx.service::<AskOnly>().is_some()
}

/// Returns the error for a call that could run if no earlier call waited.
pub(crate) fn held_back() -> ToolError {
    let text = "an earlier call of the message is waiting, so this call was not run yet";
    ToolError::of(ErrorKind::Pending, text)
}

/// Returns the error for a call that waits for an approval.
pub(crate) fn pending(ticket: &Ticket) -> ToolError {
    let text = "the call must be approved by a person first";
    ToolError::of(ErrorKind::Pending, text).operator(format!("approval `{}` is pending", ticket.id))
}

fn failed(error: &StoreError) -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the call was not made, because its approval could not be read or stored",
    )
    .operator(format!("the approval store failed: {error}"))
}

/// Returns the error for a finished call whose approvals could not be withdrawn.
fn not_withdrawn(error: &StoreError) -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the approvals of the finished call could not be withdrawn",
    )
    .operator(error.to_string())
}

pub(crate) fn denied(reason: Option<&str>) -> ToolError {
    let text = match reason {
        Some(reason) => format!("a person has denied the call: {reason}"),
        None => "a person has denied the call".to_owned(),
    };
    ToolError::of(ErrorKind::Denied, text)
}

/// Withdraws an approval that no longer permits its call, because the policy denies the call or requires a new approval.
pub(crate) async fn withdraw(approvals: &Approvals, grant: &Grant) -> Result<(), ToolError> {
    let request = grant.request();
    let withdrawn = approvals
        .store()
        .withdraw(request.identity.workspace(), &request.id);
    withdrawn.await.map(drop).map_err(|error| failed(&error))
}

/// Withdraws every open approval of a finished call and of its nested calls, regardless of the requester, so that they cannot be used later. `result` is the
/// result of the call. Fails if a store fails, or if an approval is being used at the same time.
///
/// A used approval cannot be withdrawn. If its call may still begin on it ([`may_begin`]), the ledger closes that call with `result`, or with a
/// refusal if `result` is a success.
pub(crate) async fn withdraw_all(
    gate: &Gate,
    approvals: &Approvals,
    identity: &CallId,
    cx: &ToolContext,
    result: &CallResult,
) -> Result<(), ToolError> {
    let store = approvals.store();
    let now = Timestamp::now();
    let rows = of_call(approvals, identity, cx).await;
    for row in rows.map_err(|error| not_withdrawn(&error))? {
        if row.status == ApprovalStatus::Spent {
            let spent = Loaded::read(row, now).map_err(|error| not_withdrawn(&error))?;
            if let Loaded::Spent(spent) = spent
                && may_begin(gate, &spent, now)
            {
                let stored = if result.is_error() {
                    stored::write(result)
                } else {
                    let error = "the outer call ended before this call began, so it was not run";
                    let error = ToolError::of(ErrorKind::Denied, error);
                    let request = spent.request();
                    let call = ToolCall::new(&*request.call, &*request.tool, "{}");
                    stored::write(&CallResult::refused(call, error))
                };
                let closed = close_approved(gate, &spent, stored, result.unbegun());
                closed.await.map_err(|error| not_withdrawn(&error))?;
            }
            continue;
        }
        let withdrawn = store.withdraw(row.request.identity.workspace(), &row.request.id);
        if !withdrawn.await.map_err(|error| not_withdrawn(&error))? {
            return Err(not_withdrawn(&StoreError::Conflict(
                "an approval of the call was used in the meantime".to_owned(),
            )));
        }
    }
    Ok(())
}

/// Returns the approvals of a call and of its nested calls that are open or were used.
async fn of_call(
    approvals: &Approvals,
    identity: &CallId,
    cx: &ToolContext,
) -> Result<Vec<ApprovalRow>, StoreError> {
    let workspace = cx.own_workspace();
    let mut found = Vec::new();
    for status in [
        ApprovalStatus::Pending,
        ApprovalStatus::Approved,
        ApprovalStatus::Spent,
    ] {
        let filter = ApprovalFilter {
            kind: Some(ApprovalKind::Call),
            thread: cx.conversation().map(str::to_owned),
            status: Some(status),
            ..ApprovalFilter::default()
        };
        let rows = approvals
            .store()
            .list(Scope::Workspace(&workspace), &filter);
        found.extend(rows.await?);
    }
    found.retain(|row| {
        let asked = &row.request.identity;
        asked == identity || asked.is_within(identity)
    });
    Ok(found)
}

/// Returns whether a call or one of its nested calls has an approval that is open or was used, so that its token could start the call elsewhere.
pub(crate) async fn may_be_resumed(
    approvals: &Approvals,
    identity: &CallId,
    cx: &ToolContext,
) -> Result<bool, ToolError> {
    let rows = of_call(approvals, identity, cx).await;
    rows.map(|rows| !rows.is_empty())
        .map_err(|error| failed(&error))
}

/// Requests an approval of a call that is not denied, or uses the approval that the call has.
pub(crate) async fn pass(
    gate: &Gate,
    approvals: &Approvals,
    prepared: &Prepared,
    judged: &Judgement,
    grant: Option<Box<Grant>>,
) -> Result<Asked, ToolError> {
    let now = Timestamp::now();
    let Some(grant) = grant else {
        let found = earlier(approvals, prepared, judged, now).await?;
        let runs = matches!(found, Some(Loaded::Granted(_) | Loaded::Spent(_)));
        if runs && only_asks(prepared.context()) {
            return Err(held_back());
        }
        return match found {
            Some(Loaded::Asked(asked)) => {
                let ticket = approvals.ticket(asked.request());
                let ticket = ticket.map_err(|error| {
                    ToolError::foreign(error).operator("a ticket could not be issued")
                })?;
                Ok(Asked::Waits(Box::new(ticket)))
            }
            Some(Loaded::Granted(grant)) if grant.is_edited() => {
                Ok(Asked::Edited(Box::new(Grant::Open(grant))))
            }
            Some(Loaded::Granted(grant)) => spend(gate, approvals, grant, now).await,
            Some(Loaded::Refused(refused)) => Err(denied(refused.reason())),
            Some(Loaded::Spent(spent)) if spent.is_edited() => {
                Ok(Asked::Edited(Box::new(Grant::Used(spent))))
            }
            Some(Loaded::Spent(spent)) => Ok(used(gate, &spent, now)),
            Some(Loaded::Over(_)) => {
                // The expiry is stored, so that setting a clock back does not make the old request valid again.
                let workspace = prepared.context().own_workspace();
                let expired = approvals.store().expire((&workspace).into(), now).await;
                expired.map_err(|error| failed(&error))?;
                ask(gate, approvals, prepared, judged, now).await
            }
            None => ask(gate, approvals, prepared, judged, now).await,
        };
    };
    let requires_more = judged.four_eyes() && !grant.request().four_eyes;
    if *grant.request().policy != *judged.version() || requires_more {
        // The approval was given under a different version of the policy, or without the four eyes that a rule now requires.
        withdraw(approvals, &grant).await?;
        return ask(gate, approvals, prepared, judged, now).await;
    }
    match *grant {
        Grant::Open(grant) => spend(gate, approvals, grant, now).await,
        Grant::Used(spent) => Ok(used(gate, &spent, now)),
    }
}

/// Returns whether a call may still begin on a used approval, because the process died before the call began, or because an operator has requested a
/// rerun. Returns false after the approval has expired. The ledger admits only one such run, so the ledger must be at least as durable as the
/// approvals.
pub(crate) fn may_begin(gate: &Gate, spent: &Approval<Spent>, now: Timestamp) -> bool {
    let lasts = |approvals: &Approvals| {
        let ledger = gate.effects();
        ledger.is_some_and(|ledger| ledger.is_durable() || !approvals.store().is_durable())
    };
    spent.request().expires > now && gate.approvals().is_some_and(lasts)
}

fn used(gate: &Gate, spent: &Approval<Spent>, now: Timestamp) -> Asked {
    let id = spent.request().id.clone();
    if may_begin(gate, spent, now) {
        let approver = spent.approver().to_owned();
        Asked::Approved(Approved { id, approver })
    } else {
        Asked::Used { id }
    }
}

async fn spend(
    gate: &Gate,
    approvals: &Approvals,
    grant: Approval<Granted>,
    now: Timestamp,
) -> Result<Asked, ToolError> {
    let id = grant.request().id.clone();
    let workspace = grant.request().identity.workspace().clone();
    let spent = grant.spend(approvals.store(), now).await;
    if let Some(spent) = spent.map_err(|error| failed(&error))? {
        let approver = spent.approver().to_owned();
        return Ok(Asked::Approved(Approved { id, approver }));
    }
    // The approval was used or ended in the meantime.
    let row = approvals.store().get(&workspace, &id).await;
    match row.and_then(|row| row.map(|row| Loaded::read(row, now)).transpose()) {
        Ok(Some(Loaded::Spent(spent))) => Ok(used(gate, &spent, now)),
        Ok(_) => Err(ToolError::of(
            ErrorKind::Denied,
            "the approval is no longer valid",
        )),
        Err(error) => Err(failed(&error)),
    }
}

/// Returns the call's arguments as canonical JSON: an approval is bound to this text.
fn arguments(prepared: &Prepared) -> Result<String, ToolError> {
    args::canonical(prepared.arguments())
        .ok_or_else(|| ToolError::new("the arguments are nested too deep to be approved"))
}

/// Returns the approvals that any user or agent has requested for this call: under the key of its identity or, if there are none, under its key in
/// earlier versions of this crate. Approvals that were requested under an alias of the tool come first, and each name's approvals are sorted, oldest
/// first.
async fn asked_before(
    approvals: &Approvals,
    prepared: &Prepared,
) -> Result<Vec<ApprovalRow>, ToolError> {
    let cx = prepared.context();
    let keys = [cx.idempotency_key(), cx.earlier_key()];
    let mut rows = Vec::new();
    for key in keys.into_iter().flatten() {
        // Requests under an alias were created before the tool was renamed.
        for name in prepared.tool().aliases() {
            rows.extend(asked_about(approvals, &key, cx, name).await?);
        }
        rows.extend(asked_about(approvals, &key, cx, prepared.tool().name()).await?);
        if !rows.is_empty() {
            break;
        }
    }
    Ok(rows)
}

/// Returns every approval that was requested for a call with this key and tool, oldest first.
async fn asked_about(
    approvals: &Approvals,
    key: &CallKey,
    cx: &ToolContext,
    tool: &str,
) -> Result<Vec<ApprovalRow>, ToolError> {
    let workspace = cx.own_workspace();
    let filter = ApprovalFilter {
        tool: Some(tool.to_owned()),
        kind: Some(ApprovalKind::Call),
        key: Some(key.as_str().to_owned()),
        // Earlier versions of this crate, which had no call identities, gave calls of two conversations the same key.
        thread: cx.conversation().map(str::to_owned),
        ..ApprovalFilter::default()
    };
    let scope = Scope::Workspace(&workspace);
    let found = approvals.store().list(scope, &filter).await;
    found.map_err(|error| failed(&error))
}

/// Returns whether this user and agent have made the request.
fn is_own(request: &ApprovalRequest, cx: &ToolContext) -> bool {
    request.principal == cx.principal() && request.agent.as_deref() == cx.agent()
}

/// Returns the texts of arguments that approvers' edits link to the call's own arguments, in either direction: texts that replaced the call's
/// arguments, and texts that the call's arguments replaced. Different users and agents can continue one conversation, so a call of a turn gets the
/// edits of all users and agents of the turn.
pub(crate) async fn edits(
    approvals: &Approvals,
    prepared: &Prepared,
) -> Result<Vec<String>, ToolError> {
    let rows = asked_before(approvals, prepared).await?;
    let cx = prepared.context();
    let own = rows
        .into_iter()
        .filter(|row| cx.is_of_turn() || is_own(&row.request, cx));
    let mut edits: Vec<(String, String)> = own
        .filter_map(|row| match row.answer?.verdict {
            Verdict::Edit(edited) => Some((row.request.arguments, edited)),
            _ => None,
        })
        .collect();
    // The edits cannot be ordered by time: two requests may have the same millisecond, and a clock may be set back. The loop therefore follows the edits one at
    // a time, because each edit that it finds may lead to another.
    let mut known = vec![arguments(prepared)?];
    let mut at = 0;
    while let Some(arguments) = known.get(at).cloned() {
        let found = edits.extract_if(.., |(asked, edited)| {
            *asked == arguments || *edited == arguments
        });
        known.extend(found.flat_map(|(asked, edited)| [asked, edited]));
        at += 1;
    }
    known.remove(0);
    Ok(known)
}

/// Finds the approval of an earlier dispatch of the same call: with the same identity, user, agent, arguments, contract and policy, and with four eyes if
/// they are required. If the approval names an alias of the tool, the contract is the same if only the name has changed.
async fn earlier(
    approvals: &Approvals,
    prepared: &Prepared,
    judged: &Judgement,
    now: Timestamp,
) -> Result<Option<Loaded>, ToolError> {
    let cx = prepared.context();
    let (tool, arguments) = (prepared.tool(), arguments(prepared)?);
    let rows = asked_before(approvals, prepared).await?;
    let mut own = rows.into_iter().rev().filter(|row| {
        let request = &row.request;
        is_own(request, cx)
            && *request.contract == *tool.contract_under(&request.tool)
            && request.arguments == arguments
            && *request.policy == *judged.version()
            && (request.four_eyes || !judged.four_eyes())
    });
    // The last request counts, because earlier ones were withdrawn or have expired. If a clock was set back, the open request may have
    // been created before an expired one.
    let last = own.next();
    let is_open = |row: &ApprovalRow| row.status.is_open() && row.request.expires > now;
    let has_expired = |row: &ApprovalRow| {
        row.status == ApprovalStatus::Expired
            || (row.status.is_open() && row.request.expires <= now)
    };
    let own = match last {
        Some(last) if has_expired(&last) => own.find(is_open).or(Some(last)),
        last => last,
    };
    own.map(|row| Loaded::read(row, now))
        .transpose()
        .map_err(|error| failed(&error))
}

/// Asks a person to approve a call that has not begun. For a call that has begun, requests no approval and returns the outcome of its earlier run,
/// because the call may already have had an effect.
async fn ask(
    gate: &Gate,
    approvals: &Approvals,
    prepared: &Prepared,
    judged: &Judgement,
    now: Timestamp,
) -> Result<Asked, ToolError> {
    let cx = prepared.context();
    let identity = cx
        .identity()
        .cloned()
        .ok_or_else(|| ToolError::new("the call has no identity, so it cannot be approved"))?;
    if let Some(before) = super::begun(gate, prepared).await? {
        return Ok(Asked::Before(before));
    }
    let room = approvals.has_room(cx, now).await;
    if !room.map_err(|error| failed(&error))? {
        let of = if cx.conversation().is_some() {
            " of this conversation"
        } else {
            ""
        };
        let text = format!(
            "too many calls{of} wait for approval, so no approval was requested for this one; call it again when the others are answered"
        );
        return Err(ToolError::of(ErrorKind::RateLimited, text)
            .operator("the limit is set with `Approvals::builder(…).most_open(…)`"));
    }
    let asked = approvals.question(ApprovalKind::Call, identity, arguments(prepared)?, cx, now)?;
    let request = ApprovalRequest {
        call: prepared.call().id.clone(),
        tool: prepared.tool().name().to_owned(),
        contract: prepared.tool().contract().to_string(),
        policy: judged.version().to_owned(),
        decision: judged.id().map(|id| id.to_string()).unwrap_or_default(),
        four_eyes: judged.four_eyes(),
        reason: judged.reason().map(str::to_owned),
        parent: cx.parent_call().map(str::to_owned),
        ..asked
    };
    approvals
        .ask(request)
        .await
        .map(|ticket| Asked::Waits(Box::new(ticket)))
        .map_err(|error| failed(&error))
}
