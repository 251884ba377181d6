//! A call through a host's gate: judged, approved, written down, run once, and remembered.

use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::{Either, select};

use super::attempts::attempts;
use super::claim::{self, Before, Claim, Claimed, Cut};
use super::prepared::{admit, begin};
use super::record::{self, refuse};
use super::{Prepared, Progress, closed, enter, stored, telemetry};
use crate::audit::{Audit, End, Entry, Late, Verdicts};
use crate::call::{CallResult, ToolCall};
use crate::context::{Gated, ToolContext};
use crate::env;
use crate::error::{ErrorKind, ToolError};
use crate::gate::approval::{Grant, Ticket};
use crate::gate::ask::{self, Asked};
use crate::gate::{self, Gate, Says};
use crate::store::{AuditRow, CallId, Timestamp};
use crate::tool::{Finished, Job, ToolDef};
use crate::toolset::Toolset;

/// What holds from the gate to the end of a call. Dropped before the end, the call counts as cancelled.
struct Flight<'a> {
    gate: &'a Gate,
    prepared: Option<Prepared>,
    verdicts: Verdicts,
    started: Timestamp,
    since: Instant,
    claim: Option<Claim>,
}

/// Where a call comes from.
pub(super) enum From {
    /// A model, or a host in its place.
    Model,
    /// A person has approved it.
    Approval(Box<Grant>),
    /// A host that holds typed arguments.
    Host(MakeJob),
}

/// Makes the run of a typed call, given its context.
pub(super) type MakeJob = Box<dyn FnOnce(ToolContext) -> Job + Send>;

/// Runs a call, or refuses it.
pub(super) async fn call(
    gate: &Gate,
    toolset: &Toolset,
    call: ToolCall,
    cx: &ToolContext,
    progress: Progress,
    from: From,
) -> CallResult {
    let (grant, made) = match from {
        From::Model => (None, None),
        From::Approval(grant) => (Some(grant), None),
        From::Host(job) => (None, Some(job)),
    };
    let (since, started) = (env::monotonic(), Timestamp::now());
    let gated = match Gated::open(cx, &call, grant.as_deref().map(Grant::request)) {
        Ok(gated) => gated.at(gate),
        Err(error) => return Box::pin(refuse(gate, None, call, cx, error, None, started)).await,
    };
    let (at, def) = match toolset.dispatch(&call.name) {
        Ok(found) => found,
        Err(layer) => {
            let error = toolset.unknown(&cx.redactor().redact(&call.name));
            return Box::pin(refuse(gate, Some(&gated), call, cx, error, layer, started)).await;
        }
    };
    let (corrected, repairs) = match admit(toolset, def, &call.arguments, cx) {
        Ok(admitted) => admitted,
        Err(error) => {
            return Box::pin(refuse(gate, Some(&gated), call, cx, error, None, started)).await;
        }
    };
    let mut prepared = enter(
        toolset,
        at,
        def,
        call,
        cx,
        progress,
        since,
        Some(Box::new(gated)),
    );
    (prepared.repairs, prepared.corrected) = (repairs, corrected);
    let mut flight = Flight {
        gate,
        prepared: Some(prepared),
        verdicts: Verdicts::default(),
        started,
        since,
        claim: None,
    };
    let typed = made.is_some();
    let outcome = match flight.go(toolset, def, grant, made).await {
        Ok(Passed::Edited(grant)) if !typed => {
            return Box::pin(flight.edited(toolset, grant, cx)).await;
        }
        outcome => outcome,
    };
    let result = flight.land(toolset, outcome).await;
    cx.wait_for(&result.tickets);
    result
}

/// How a call got past the gate.
enum Passed {
    /// It ran.
    Ran(Result<Finished, ToolError>),
    /// It ran before.
    Before(Before),
    /// Its identity belongs to a call that differs from it.
    Foreign(ToolError),
    /// A store failed, so that nobody knows whether it ran before or was approved.
    Undecided(ToolError),
    /// It needs a person.
    Asked(Box<Ticket>),
    /// A person has approved it with other arguments.
    Edited(Box<Grant>),
}

/// The error of a gate whose store failed leaves the call open; any other error is its end.
fn undecided(error: ToolError) -> Result<Passed, ToolError> {
    match error.kind() {
        ErrorKind::Unavailable => Ok(Passed::Undecided(error)),
        _ => Err(error),
    }
}

/// Refuses a call that may not run any more. Nothing of it has run.
fn still_allowed(toolset: &Toolset, prepared: &Prepared) -> Result<(), ToolError> {
    let switched_off = toolset.dispatch(&prepared.call().name).is_err();
    if switched_off || gate::judge(toolset, prepared).says == Says::Deny {
        let text = "the call is not allowed any more, so it was not run";
        return Err(ToolError::of(ErrorKind::Denied, text)
            .operator("it was switched off or denied while the call was recorded"));
    }
    Ok(())
}

/// The error of a call whose body has returned an output that could not be handed on.
fn took_effect(error: &ToolError) -> ToolError {
    let text = format!(
        "the tool ran and took effect, so do not call it again for the same purpose; its output cannot be shown: {}",
        error.model_text()
    );
    ToolError::of(error.kind(), text).operator(error.operator_text())
}

impl Flight<'_> {
    fn prepared(&self) -> Option<&Prepared> {
        self.prepared.as_ref()
    }

    /// Everything between the arguments and the result.
    async fn go(
        &mut self,
        toolset: &Toolset,
        def: &ToolDef,
        grant: Option<Box<Grant>>,
        made: Option<MakeJob>,
    ) -> Result<Passed, ToolError> {
        let gate = self.gate;
        let Some(prepared) = self.prepared.as_ref() else {
            return Err(ToolError::new("the call is over"));
        };
        let cx = prepared.cx.clone();
        super::check_secrets(def, &cx)?;
        let once = made.is_some();
        let job = match made {
            Some(typed) => typed(cx.clone()),
            None => begin(def, prepared.arguments(), cx.clone())?,
        };

        let judged = gate::judge(toolset, prepared);
        self.verdicts.decision = judged.id;
        self.verdicts.policy = Some(judged.policy.clone());
        // Before an approval is used up: a call that is turned away here can come again.
        let Some(_running) = gate.enter(&cx) else {
            return Err(ToolError::of(
                ErrorKind::Unavailable,
                "the host is shutting down and takes no more calls, try again later",
            ));
        };
        if judged.says != Says::Deny {
            super::check_variables(def, &cx)?;
        }
        let _counted = match gate.limits() {
            Some(limits) if judged.says != Says::Deny => Some(limits.enter(&cx, def)?),
            _ => None,
        };
        let asked = match grant {
            None if judged.says == Says::Allow && ask::only_asks(&cx) => {
                return Err(ask::held_back());
            }
            None if judged.says == Says::Allow => Asked::Not,
            grant => {
                let asked = AssertUnwindSafe(Box::pin(ask::pass(gate, prepared, &judged, grant)));
                let asked = asked.catch_unwind().await;
                match asked.unwrap_or_else(|payload| Err(ask::panicked(&*payload))) {
                    Ok(asked) => asked,
                    Err(error) => return undecided(error),
                }
            }
        };
        let mut approved = false;
        match asked {
            Asked::Not => {}
            Asked::Approved { id, approver } => {
                (self.verdicts.approval, self.verdicts.approver) = (Some(id), Some(approver));
                approved = true;
            }
            Asked::Used { id } => {
                self.verdicts.approval = Some(id);
                let key = cx
                    .idempotency_key()
                    .ok_or_else(|| ToolError::new("the call has no identity"))?;
                let replayed = claim::replayed(gate, &key).await;
                return replayed.map(Passed::Before).or_else(undecided);
            }
            Asked::Waits(ticket) => return Ok(Passed::Asked(ticket)),
            Asked::Edited(grant) => return Ok(Passed::Edited(grant)),
        }

        let read_only = def.hints().read_only;
        if let Some(ledger) = gate.ledger().filter(|_| approved || !read_only) {
            let row = self.required_row();
            match Box::pin(claim::claim(ledger, prepared, row)).await {
                Ok(Claimed::New(claim)) => self.claim = Some(claim),
                Ok(Claimed::Before(before)) => return Ok(Passed::Before(before)),
                Ok(Claimed::Foreign(error)) => return Ok(Passed::Foreign(error)),
                Err(error) => return undecided(error),
            }
        } else if let (Audit::Required(sink), Some(row)) = (gate.audit(), self.required_row()) {
            record::required(sink, row, cx.deadline()).await?;
        }
        // What was switched off or denied while a row was written does not run.
        if self.claim.is_some() || matches!(gate.audit(), Audit::Required(_)) {
            toolset.reread_switches(self.claim.is_some()).await?;
            still_allowed(toolset, prepared)?;
        }
        cx.tell_started();
        // Built here and passed on by reference: a future that is moved from fn to fn is kept once for each.
        let mut run = pin!(attempts(gate, prepared, &cx, job, once));
        let watched = async {
            if !toolset.can_be_killed() {
                return run.as_mut().await;
            }
            // A run that never waits needs nobody who could stop it.
            if let Poll::Ready(ended) = poll_fn(|task| Poll::Ready(run.as_mut().poll(task))).await {
                return ended;
            }
            let (tool, tenant) = (def.name(), cx.tenant());
            match select(run.as_mut(), pin!(toolset.killed(tool, tenant))).await {
                Either::Left((ended, _)) => ended,
                Either::Right(((), run)) => {
                    cx.cancel();
                    run.await
                }
            }
        };
        let (outcome, tries) = match &self.claim {
            Some(claim) => Box::pin(claim.hold(watched)).await,
            None => watched.await,
        };
        self.verdicts.attempt = tries;
        Ok(Passed::Ran(outcome))
    }

    /// The row that has to be there before the body runs.
    fn required_row(&self) -> Option<AuditRow> {
        match self.gate.audit() {
            Audit::Required(_) => self.late(None).map(|late| late.row()),
            Audit::Off | Audit::BestEffort(_) => None,
        }
    }

    fn late(&self, end: Option<End>) -> Option<Late> {
        let prepared = self.prepared()?;
        Some(Late {
            cx: prepared.cx.clone(),
            scope: Arc::clone(&prepared.scope),
            identity: prepared.cx.identity().cloned()?,
            used: prepared.corrected.clone(),
            verdicts: self.verdicts.clone(),
            started: self.started,
            end,
        })
    }

    /// Makes the call with the arguments that were approved; they pass the gate like any others.
    async fn edited(
        mut self,
        toolset: &Toolset,
        grant: Box<Grant>,
        cx: &ToolContext,
    ) -> CallResult {
        let scope = self.prepared.take().map(|prepared| prepared.scope);
        let (name, id, progress) = match &scope {
            Some(scope) => (
                scope.call.name.clone(),
                scope.call.id.clone(),
                scope.progress.clone(),
            ),
            None => (grant.request().tool.clone(), String::new(), None),
        };
        let edited = ToolCall::new(id, name, grant.arguments());
        let from = From::Approval(grant);
        call(self.gate, toolset, edited, cx, progress, from).await
    }

    /// The result, the ledger's end and the audit.
    async fn land(mut self, toolset: &Toolset, passed: Result<Passed, ToolError>) -> CallResult {
        let Some(prepared) = self.prepared.take() else {
            return CallResult::refused(
                ToolCall::new("", "", ""),
                ToolError::new("the call is over"),
            );
        };
        let (cx, scope) = (prepared.cx.clone(), Arc::clone(&prepared.scope));
        let mut identity = cx.identity().cloned();
        let used = prepared.corrected.clone();
        // Held until everything is in it.
        let span = prepared.span.clone();
        let content = self.gate.traces_content();
        telemetry::decided(&span, &self.verdicts);
        if content {
            telemetry::arguments(&span, prepared.arguments(), &cx);
        }
        let mut result = match passed {
            Ok(Passed::Before(Before::Stored(text))) => {
                let (outcome, citations) = stored::read(&text);
                let mut result = prepared.result(outcome);
                result.citations = cx.redactor().clean(citations);
                result.replayed = true;
                span.record("tool_core.replayed", true);
                // Its row is written already.
                return result;
            }
            Ok(Passed::Before(Before::Unsettled(row))) => {
                let mut result = prepared.result(Err(claim::interrupted(&row)));
                result.unsettled = Some(row);
                result
            }
            Ok(Passed::Foreign(error)) => {
                // The row of this identity is the other call's.
                identity = CallId::alone(cx.own_workspace()).ok();
                prepared.result(Err(super::redacted(error, &cx)))
            }
            Ok(Passed::Undecided(error)) => {
                let mut result = prepared.result(Err(super::redacted(error, &cx)));
                result.undecided = true;
                result
            }
            Ok(Passed::Ran(outcome)) => closed(toolset, prepared, outcome).await,
            Ok(Passed::Edited(_)) => prepared.result(Err(ToolError::of(
                ErrorKind::Denied,
                "the call was approved with other arguments",
            )
            .operator(
                "a typed call keeps its arguments: run the approval with `Toolset::resume`",
            ))),
            Ok(Passed::Asked(ticket)) => {
                span.record("tool_core.approval.id", &*ticket.id);
                let mut result = prepared.result(Err(ask::pending(&ticket)));
                result.tickets.push(*ticket);
                result
            }
            Err(error) => prepared.result(Err(super::redacted(error, &cx))),
        };
        if self.claim.is_some()
            && cx.has_returned()
            && let Some(error) = result.error()
        {
            let error = took_effect(error);
            result.outcome = cx.redactor().clean(Err(error));
        }
        if content && let Some(output) = result.output() {
            telemetry::result(&span, output.get());
        }
        drop(span);
        result.tickets.extend(cx.take_asked());
        if let Some(claim) = self.claim.take() {
            Box::pin(claim.end(&result, &cx)).await;
        }
        let end = End::of(&result, env::elapsed(self.since));
        let Some(identity) = identity else {
            return result;
        };
        let late = Late {
            cx,
            scope,
            identity,
            used,
            verdicts: std::mem::take(&mut self.verdicts),
            started: self.started,
            end: Some(end),
        };
        match self.gate.audit() {
            Audit::Off => {}
            Audit::BestEffort(buffer) => buffer.push(Entry::Late(Box::new(late))),
            Audit::Required(sink) => Box::pin(record::ended(sink, late)).await,
        }
        result
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        // Taken when the call has landed.
        if self.prepared.is_none() {
            return;
        }
        let error = ToolError::of(ErrorKind::Cancelled, "the call was dropped before its end");
        if let Some(prepared) = &self.prepared {
            telemetry::decided(&prepared.span, &self.verdicts);
            prepared.ended(Some(&error));
        }
        let end = End::failed(&error, env::elapsed(self.since));
        let (Some(late), claim) = (self.late(Some(end)), self.claim.take()) else {
            return;
        };
        let cut = Cut::of(&late.cx);
        if let Audit::BestEffort(buffer) = self.gate.audit() {
            buffer.push(Entry::Late(Box::new(late)));
            if let Some(claim) = claim {
                env::spawn(claim.dropped(cut));
            }
        } else {
            let audit = self.gate.audit().clone();
            env::spawn(async move {
                if let Some(claim) = claim {
                    claim.dropped(cut).await;
                }
                if let Audit::Required(sink) = audit {
                    record::ended(&sink, late).await;
                }
            });
        }
    }
}
