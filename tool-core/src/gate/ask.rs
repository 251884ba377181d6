//! Whether a judged call may go on: at once, by an approval, or not yet.

use super::approval::{Approval, Approvals, Grant, Granted, Loaded, Spent, Ticket};
use super::hash::contract;
use super::{Gate, Judgement, canonical};
use crate::call::{CallResult, ToolCall};
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::run::{self, Before, Prepared};
use crate::store::{
    ApprovalFilter, ApprovalKind, ApprovalRequest, ApprovalRow, ApprovalStatus, CallId, CallKey,
    Scope, StoreError, Timestamp, Verdict,
};

/// Evidence that a person has said yes, and that this is used up: for this call now, or by a run of which only the ledger knows whether
/// it has begun. Only this file makes it.
#[derive(Debug)]
pub(crate) struct Approved {
    id: String,
    approver: String,
}

impl Approved {
    /// Id of the approval, and who has given it.
    pub(crate) fn into_names(self) -> (String, String) {
        (self.id, self.approver)
    }
}

/// What became of the question.
pub(crate) enum Asked {
    /// A person has said yes.
    Approved(Approved),
    /// A person has said yes, and nothing may begin on it any more: what the ledger has stored is all there is.
    Used { id: String },
    /// The call has begun before, so the gate asks no person.
    Before(Before),
    /// A person has said yes to other arguments: the call is to be made with those.
    Edited(Box<Grant>),
    /// A person has to say something.
    Waits(Box<Ticket>),
}

/// Marks the context of a call that may be asked about and not run, because an earlier call of its message waits.
#[derive(Clone, Copy)]
pub(crate) struct AskOnly;

/// Whether a call may be asked about and not run.
pub(crate) fn only_asks(cx: &ToolContext) -> bool {
    cx.service::<AskOnly>().is_some()
}

/// The error of a call that could run if no earlier one waited.
pub(crate) fn held_back() -> ToolError {
    let text = "an earlier call of the message waits, so this call was not run yet";
    ToolError::of(ErrorKind::Pending, text)
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

/// Takes back an approval whose call is denied.
pub(crate) async fn withdraw(approvals: &Approvals, grant: &Grant) -> Result<(), ToolError> {
    let request = grant.request();
    let withdrawn = approvals
        .store()
        .withdraw(request.identity.workspace(), &request.id);
    withdrawn.await.map(drop).map_err(|error| failed(&error))
}

/// Takes back every open approval of a call that has `result` and is not run any more, and of the calls that it made, whoever asked for
/// them, so that nobody can run them later. Fails where an approval is used at this moment.
///
/// An approval that was used cannot be withdrawn. Where its call has not begun, the ledger closes the call with `result`, or with a refusal
/// where that is a success.
pub(crate) async fn withdraw_all(
    gate: &Gate,
    approvals: &Approvals,
    identity: &CallId,
    cx: &ToolContext,
    result: &CallResult,
) -> Result<(), ToolError> {
    let store = approvals.store();
    let now = Timestamp::now();
    for row in of_call(approvals, identity, cx).await? {
        if row.status == ApprovalStatus::Spent {
            let spent = Loaded::read(row, now).map_err(|error| failed(&error))?;
            if let Loaded::Spent(spent) = spent
                && may_begin(gate, &spent, now)
            {
                let stored = if result.is_error() {
                    run::stored::write(result)
                } else {
                    let error =
                        "the call that made this one has ended without it, so it was not run";
                    let error = ToolError::of(ErrorKind::Denied, error);
                    let request = spent.request();
                    let call = ToolCall::new(&*request.call, &*request.tool, "{}");
                    run::stored::write(&CallResult::refused(call, error))
                };
                let closed = run::close_approved(gate, &spent, stored, result.unbegun());
                closed.await.map_err(|error| failed(&error))?;
            }
            continue;
        }
        let withdrawn = store.withdraw(row.request.identity.workspace(), &row.request.id);
        if !withdrawn.await.map_err(|error| failed(&error))? {
            return Err(failed(&StoreError::Conflict(
                "an approval of the call was used meanwhile".to_owned(),
            )));
        }
    }
    Ok(())
}

/// The approvals of a call and of the calls that it made that are open or were used.
async fn of_call(
    approvals: &Approvals,
    identity: &CallId,
    cx: &ToolContext,
) -> Result<Vec<ApprovalRow>, ToolError> {
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
        found.extend(rows.await.map_err(|error| failed(&error))?);
    }
    found.retain(|row| {
        let asked = &row.request.identity;
        asked == identity || asked.is_within(identity)
    });
    Ok(found)
}

/// Whether a call, or a call that it made, has an approval with whose token it may begin elsewhere at this moment.
pub(crate) async fn may_be_resumed(
    approvals: &Approvals,
    identity: &CallId,
    cx: &ToolContext,
) -> Result<bool, ToolError> {
    Ok(!of_call(approvals, identity, cx).await?.is_empty())
}

/// Asks about a call that is not denied, or uses the approval that it comes with.
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
                // Stored, so that a clock that is set back does not make the old question valid again.
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
        // What was approved was approved under other rules.
        withdraw(approvals, &grant).await?;
        return ask(gate, approvals, prepared, judged, now).await;
    }
    match *grant {
        Grant::Open(grant) => spend(gate, approvals, grant, now).await,
        Grant::Used(spent) => Ok(used(gate, &spent, now)),
    }
}

/// Whether a call may still begin on an approval that was used up: the process died before it began, or an operator has told it to run
/// again. The ledger lets one begin, so it has to live as long as the approvals.
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
    // Another task has used it, or has ended it.
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

/// The call's arguments, as an approval is bound to them.
fn arguments(prepared: &Prepared) -> Result<String, ToolError> {
    canonical::canonical(prepared.arguments())
        .ok_or_else(|| ToolError::new("the arguments are nested too deep to be approved"))
}

/// Every approval that any user or agent has asked for a call of this identity and tool, oldest first.
async fn asked_before(
    approvals: &Approvals,
    prepared: &Prepared,
) -> Result<Vec<ApprovalRow>, ToolError> {
    let cx = prepared.context();
    let keys = [cx.idempotency_key(), cx.earlier_key()];
    let mut rows = Vec::new();
    for key in keys.into_iter().flatten() {
        rows = asked_about(approvals, &key, cx, prepared.tool().name()).await?;
        if !rows.is_empty() {
            break;
        }
    }
    Ok(rows)
}

/// Every approval that was asked for a call of this key and tool, oldest first.
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
        // Versions before 0.2 gave calls of two conversations one key.
        thread: cx.conversation().map(str::to_owned),
        ..ApprovalFilter::default()
    };
    let scope = Scope::Workspace(&workspace);
    let found = approvals.store().list(scope, &filter).await;
    found.map_err(|error| failed(&error))
}

/// Whether this user and agent have asked.
fn is_own(request: &ApprovalRequest, cx: &ToolContext) -> bool {
    request.principal == cx.principal() && request.agent.as_deref() == cx.agent()
}

/// The other arguments of the call: those that approvers have written in place of its own or of each other, and those in place of which its
/// own were written. Everybody who continues a conversation continues its calls, so the calls of a turn have the edits that any of its users and agents was given.
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
    // What was asked within a millisecond has no order, and a clock may be set back: each edit that is found may lead to another.
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

/// The approval of an earlier dispatch of the very same call: the same identity, caller, agent, arguments, contract and policy.
async fn earlier(
    approvals: &Approvals,
    prepared: &Prepared,
    judged: &Judgement,
    now: Timestamp,
) -> Result<Option<Loaded>, ToolError> {
    let cx = prepared.context();
    let (contract, arguments) = (contract(prepared.tool()), arguments(prepared)?);
    let rows = asked_before(approvals, prepared).await?;
    let mut own = rows.into_iter().rev().filter(|row| {
        let request = &row.request;
        is_own(request, cx)
            && *request.contract == *contract
            && request.arguments == arguments
            && *request.policy == *judged.version()
            && (request.four_eyes || !judged.four_eyes())
    });
    // The last one counts: an earlier one was withdrawn or has expired. Where a clock was set back, the one that is open may have been
    // created before one that has expired.
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

/// Asks a person about a call that has not begun. One that has begun may have had an effect, under whatever policy that was.
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
        .ok_or_else(|| ToolError::new("the call has no identity, so nobody can approve it"))?;
    if let Some(before) = run::begun(gate, prepared).await? {
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
            "too many calls{of} wait for a person, so nobody was asked about this one; call it again when the others are answered"
        );
        return Err(ToolError::of(ErrorKind::RateLimited, text)
            .operator("the limit is that of `Approvals::builder(…).most_open(…)`"));
    }
    let asked = approvals.question(ApprovalKind::Call, identity, arguments(prepared)?, cx, now)?;
    let request = ApprovalRequest {
        call: prepared.call().id.clone(),
        tool: prepared.tool().name().to_owned(),
        contract: contract(prepared.tool()).to_string(),
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
