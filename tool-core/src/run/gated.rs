//! A call through a host's gate: judged, approved, written down, run once, and remembered.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use futures::future::{Either, select};
use tower::ServiceExt as _;

use super::claim::{self, Claim, Claimed};
use super::hooks::{Permitted, Ran};
use super::{Prepared, Progress, begin, closed, enter, stored, telemetry};
use crate::audit::{Audit, End, Entry, Late, Verdicts, arrived};
use crate::call::{CallResult, ToolCall};
use crate::context::{Gated, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::gate::approval::{Grant, Ticket};
use crate::gate::ask::{self, Asked};
use crate::gate::{self, Gate, Layer, Says};
use crate::store::{AuditRow, AuditSink, Timestamp};
use crate::tool::{Finished, Job, Tool, ToolDef};
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
type MakeJob = Box<dyn FnOnce(ToolContext) -> Job + Send>;

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
    let (since, started) = (Instant::now(), Timestamp::now());
    let gated = match Gated::open(cx, &call, grant.as_deref().map(Grant::request)) {
        Ok(gated) => gated,
        Err(error) => return Box::pin(refuse(gate, None, call, cx, error, None, started)).await,
    };
    let (at, def) = match toolset.dispatch(&call.name) {
        Ok(found) => found,
        Err(layer) => {
            let error = toolset.unknown(&call.name);
            return Box::pin(refuse(gate, Some(&gated), call, cx, error, layer, started)).await;
        }
    };
    let (corrected, repairs) = match super::admit(toolset, def, &call.arguments) {
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
    /// It ran before; this came of it.
    Stored(String),
    /// It needs a person.
    Asked(Box<Ticket>),
    /// A person has approved it with other arguments.
    Edited(Box<Grant>),
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
            None if judged.says == Says::Allow => Asked::Not,
            grant => Box::pin(ask::pass(gate, prepared, &judged, grant)).await?,
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
                return claim::replayed(gate, cx.idempotency_key().unwrap_or_default())
                    .await
                    .map(Passed::Stored);
            }
            Asked::Waits(ticket) => return Ok(Passed::Asked(ticket)),
            Asked::Edited(grant) => return Ok(Passed::Edited(grant)),
        }

        let read_only = def.hints().read_only;
        if let Some(ledger) = gate.ledger().filter(|_| approved || !read_only) {
            let row = self.required_row();
            match Box::pin(claim::claim(ledger, prepared, row)).await? {
                Claimed::New(claim) => self.claim = Some(claim),
                Claimed::Before(stored) => return Ok(Passed::Stored(stored)),
            }
        } else if let (Audit::Required(sink), Some(row)) = (gate.audit(), self.required_row()) {
            sink.write(vec![row])
                .await
                .map_err(|error| unwritten(&error))?;
        }
        cx.tell_started();
        // Built here and passed on by reference: a future that is moved from fn to fn is kept once for each.
        let mut run = pin!(attempts(gate, prepared, &cx, job, once));
        let watched = async {
            if !toolset.has_policy() {
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
            Audit::Required(_) => self.late(None).map(Late::into_row),
            Audit::Off | Audit::BestEffort(_) => None,
        }
    }

    fn late(&self, end: Option<End>) -> Option<Late> {
        let prepared = self.prepared()?;
        Some(Late {
            cx: prepared.cx.clone(),
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
        let cx = prepared.cx.clone();
        let used = prepared.corrected.clone();
        // Held until everything is in it.
        let span = prepared.span.clone();
        let content = self.gate.traces_content();
        telemetry::decided(&span, &self.verdicts);
        if content {
            telemetry::arguments(&span, prepared.arguments(), &cx);
        }
        let mut result = match passed {
            Ok(Passed::Stored(text)) => {
                let (outcome, citations) = stored::read(&text);
                let mut result = prepared.result(outcome);
                result.citations = citations;
                result.replayed = true;
                span.record("tool_core.replayed", true);
                // Its row is written already.
                return result;
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
        if content && let Some(output) = result.output() {
            telemetry::result(&span, output.get());
        }
        drop(span);
        result.tickets.extend(cx.take_asked());
        if let Some(claim) = self.claim.take() {
            Box::pin(claim.end(&result, &cx)).await;
        }
        let end = End::of(&result, self.since.elapsed());
        let late = Late {
            cx,
            used,
            verdicts: std::mem::take(&mut self.verdicts),
            started: self.started,
            end: Some(end),
        };
        match self.gate.audit() {
            Audit::Off => {}
            Audit::BestEffort(buffer) => buffer.push(Entry::Late(Box::new(late))),
            Audit::Required(sink) => Box::pin(write(sink, late)).await,
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
        let end = End::failed(&error, micros(self.since.elapsed()));
        let (Some(late), claim) = (self.late(Some(end)), self.claim.take()) else {
            return;
        };
        let inside = late.cx.is_inside();
        if let Audit::BestEffort(buffer) = self.gate.audit() {
            buffer.push(Entry::Late(Box::new(late)));
            if let (Some(claim), Ok(runtime)) = (claim, tokio::runtime::Handle::try_current()) {
                runtime.spawn(claim.dropped(inside));
            }
        } else if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let audit = self.gate.audit().clone();
            runtime.spawn(async move {
                if let Some(claim) = claim {
                    claim.dropped(inside).await;
                }
                if let Audit::Required(sink) = audit {
                    write(&sink, late).await;
                }
            });
        }
    }
}

/// Runs the tool; one that may be run again, and fails, is.
async fn attempts(
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
pub(crate) async fn innermost(permitted: Permitted) -> Ran {
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

/// See [`Toolset::invoke`].
pub(super) async fn invoke<T: Tool>(
    gate: &Gate,
    toolset: &Toolset,
    input: T,
    text: Option<String>,
    cx: &ToolContext,
) -> Result<T::Output, ToolError> {
    let Some(text) = text else {
        return Err(ToolError::of(ErrorKind::Unavailable, "the call cannot be judged").operator(format!(
            "the arguments of `{}` cannot be written as JSON: derive `Serialize` for every type in them",
            T::NAME
        )));
    };
    let kept = Arc::new(Mutex::new(None));
    let slot = Arc::clone(&kept);
    let make: MakeJob = Box::new(move |cx| {
        Box::pin(async move {
            let returned = input.run(cx.clone(), super::Pass(())).await?;
            let value = super::drive::settle(returned, &cx).await?;
            let finished = super::drive::finished(&value, T::model_view, &cx)?;
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
            Ok(finished)
        })
    });
    // A typed call has no id of a provider's; within a call it is counted.
    let id = if cx.call_id().is_some() {
        String::new()
    } else {
        crate::gate::hash::random_id()?
    };
    let result = call(
        gate,
        toolset,
        ToolCall::new(id, T::NAME, text),
        cx,
        None,
        From::Host(make),
    )
    .await;
    result.outcome?;
    let value = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    value.ok_or_else(|| {
        ToolError::of(ErrorKind::Interrupted, "the call has run before").operator(
            "a stored result is JSON and has no Rust type: use `Toolset::call` for calls that may be repeated",
        )
    })
}

impl End {
    fn of(result: &CallResult, took: Duration) -> Self {
        let micros = micros(took);
        match &result.outcome {
            Ok(output) => Self {
                outcome: "ok",
                error: None,
                output_bytes: Some(output.payload.get().len() as u64),
                duration_us: micros,
            },
            Err(error) => Self::failed(error, micros),
        }
    }
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}

fn unwritten(error: &crate::store::StoreError) -> ToolError {
    ToolError::of(
        ErrorKind::Unavailable,
        "the call was not made, because the host could not write it down first",
    )
    .operator(format!(
        "the audit is required and its row could not be written: {error}"
    ))
}

/// Writes the row of a call that has ended. That it cannot be written is told to the operator.
async fn write(sink: &Arc<dyn AuditSink>, late: Late) {
    let row = late.into_row();
    let call = row.call.clone();
    if let Err(error) = sink.write(vec![row]).await {
        tracing::error!(%error, call, "the end of a call could not be written into the audit; its beginning is there");
    }
}

/// A call that never reached its tool. The model learns of a hidden tool what it learns of one that does not exist.
async fn refuse(
    gate: &Gate,
    gated: Option<&Gated>,
    call: ToolCall,
    cx: &ToolContext,
    error: ToolError,
    layer: Option<Layer>,
    started: Timestamp,
) -> CallResult {
    let error = super::redacted(error, cx);
    telemetry::refused(&call, &error);
    if !gate.audit().is_off() {
        let id = gated.map_or_else(String::new, |gated| gated.key(cx, &call).to_owned());
        let mut row: AuditRow = arrived(id, &call, cx, started);
        let end = End::failed(&error, 0);
        row.turn = gated.map(|gated| gated.turn(cx).to_owned());
        row.layer = layer.map(|layer| layer.as_str().to_owned());
        row.outcome = Some(end.outcome.to_owned());
        row.error = end.error;
        row.duration_us = Some(0);
        match gate.audit() {
            Audit::Off => {}
            Audit::BestEffort(buffer) => buffer.push(Entry::Row(Box::new(row))),
            Audit::Required(sink) => {
                if let Err(error) = sink.write(vec![row]).await {
                    tracing::error!(%error, call = call.id, "a refused call could not be written into the audit");
                }
            }
        }
    }
    CallResult::refused(call, error)
}
