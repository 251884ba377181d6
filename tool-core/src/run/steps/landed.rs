//! [`Landed`]: a call that is over and has its result.

#[cfg(feature = "host")]
use std::sync::Arc;

use futures::future::BoxFuture;

#[cfg(feature = "host")]
use super::left::EarlyGate;
use super::left::{Early, HeldStop, Stopped, Why};
use super::permitted::Outcome;
use super::{Left, Ran, Running};
use crate::call::CallResult;
#[cfg(feature = "host")]
use crate::call::stored;
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::run::{Prepared, end, telemetry};
use crate::toolset::Toolset;

#[cfg(feature = "host")]
use super::claimed::Record;
#[cfg(feature = "host")]
use super::cleared::Guards;
#[cfg(feature = "host")]
use super::flight::{self, Flight};
#[cfg(feature = "host")]
use crate::audit::End;
#[cfg(feature = "host")]
use crate::error::ErrorKind;
#[cfg(feature = "host")]
use crate::output::Output;
#[cfg(feature = "host")]
use crate::redact::Clean;
#[cfg(feature = "host")]
use crate::run::ask;
#[cfg(feature = "host")]
use crate::run::claim::{self, Before, Ending};
#[cfg(feature = "host")]
use crate::run::closing::Closing;
#[cfg(feature = "host")]
use crate::run::record;
#[cfg(feature = "host")]
use crate::run::refusal::{self, Refusal, Refused};
#[cfg(feature = "host")]
use crate::run::resume::answered;
#[cfg(feature = "host")]
use crate::store::{CallId, EffectRow};

/// A call that is over, with its result.
pub(in crate::run) struct Landed(CallResult);

impl Landed {
    #[inline]
    pub(in crate::run) fn into_result(self) -> CallResult {
        self.0
    }
}

/// A call that has its result, but whose end may not be recorded yet.
pub(in crate::run) enum Landing {
    /// The call does not wait for a further write.
    Over(Landed),
    /// A store has to write something before the call ends. Boxed, so that a call without such a write does not reserve memory for it.
    Writing(BoxFuture<'static, Landed>),
}

impl Landing {
    pub(in crate::run) async fn ended(self) -> Landed {
        match self {
            Self::Over(landed) => landed,
            Self::Writing(landing) => landing.await,
        }
    }
}

impl Running<Prepared> {
    /// Builds the result of a run. Only a bounded output has to wait: an output that is longer than its limit is stored first.
    #[inline]
    pub(in crate::run) fn land(self, toolset: &Toolset, ran: Ran) -> Landing {
        let (prepared, (), _) = self.take();
        let outcome = end::admitted(toolset, &prepared, ran.into_outcome());
        if !outcome.is_bounded {
            return Landing::Over(Landed(prepared.close(outcome.clean)));
        }
        Landing::Writing(Box::pin(async move {
            let outcome = outcome.settled(&prepared.cx).await;
            Landed(prepared.close(outcome.clean))
        }))
    }

    /// Ends a typed call, whose output is not written as JSON.
    #[inline]
    pub(in crate::run) fn land_typed<R>(self, outcome: Outcome<R>) -> Result<R, ToolError> {
        let (prepared, (), _) = self.take();
        let outcome = outcome.into_inner();
        prepared.ended(outcome.as_ref().err());
        outcome.map_err(|error| prepared.cx.redactor().error(error))
    }
}

impl Left<Prepared> {
    #[inline]
    pub(in crate::run) fn land(self, cx: &ToolContext) -> Landed {
        Landed(match self.take() {
            Stopped::Early(Early { call, error, .. }) => {
                telemetry::refused(&call, &error, cx);
                CallResult::refused_in(cx, call, error)
            }
            Stopped::Held(HeldStop { held, why, .. }) => {
                let outcome = held.cx.redactor().clean(Err(why.into_error()));
                held.close(outcome)
            }
        })
    }

    /// Ends a typed call that has not run, and returns its error.
    #[inline]
    pub(in crate::run) fn land_typed(self) -> ToolError {
        match self.take() {
            Stopped::Early(Early { error, .. }) => error,
            Stopped::Held(HeldStop { held, why, .. }) => {
                let error = why.into_error();
                held.ended(Some(&error));
                held.cx.redactor().error(error)
            }
        }
    }
}

impl Why {
    /// Returns the error that the model reads.
    #[inline]
    fn into_error(self) -> ToolError {
        match self {
            Self::Refused(error) => error,
            #[cfg(feature = "host")]
            Self::Undecided(error) | Self::Foreign(error) => error,
            #[cfg(feature = "host")]
            Self::Waits(ticket) => ask::pending(&ticket),
            #[cfg(feature = "host")]
            Self::Before(Before::Unsettled(row)) => claim::interrupted(&row),
            #[cfg(feature = "host")]
            Self::Before(Before::Stored { .. }) => ToolError::new("the call has run before"),
            #[cfg(feature = "host")]
            Self::Dropped => flight::dropped(),
        }
    }
}

#[cfg(feature = "host")]
impl Running<Flight> {
    /// Builds the result of a run, and writes the end of the call to the stores.
    #[inline]
    pub(in crate::run) fn land(self, toolset: &Toolset, ran: Ran) -> Landing {
        let (flight, mut guards, record) = self.take();
        guards.body_ended();
        traced(&flight);
        let outcome = end::admitted(toolset, flight.prepared(), ran.into_outcome());
        if !outcome.is_bounded && outcome.clean.get().is_ok() {
            let outcome = honest(&flight, &record, outcome.clean);
            return close(flight, guards, record, outcome, None);
        }
        Landing::Writing(Box::pin(async move {
            let outcome = if outcome.is_bounded {
                outcome.settled(flight.context()).await
            } else {
                outcome
            };
            let outcome = honest(&flight, &record, outcome.clean);
            let (outcome, doubt) = in_part(&flight, outcome).await;
            close(flight, guards, record, outcome, doubt).ended().await
        }))
    }
}

/// Ends a call whose body has run.
#[cfg(feature = "host")]
#[inline]
fn close(
    mut flight: Flight,
    guards: Guards,
    record: Record,
    outcome: Clean<Result<Output, ToolError>>,
    doubt: Option<Box<EffectRow>>,
) -> Landing {
    let mut result = flight.prepared_mut().close_kept(outcome);
    result.found(doubt);
    let identity = flight.context().identity().cloned();
    match closing(&mut flight, Some(record), &mut result, identity, false) {
        None => Landing::Over(Landed(result)),
        Some(closing) => written(closing, flight, guards, result),
    }
}

#[cfg(feature = "host")]
impl Left<Flight> {
    /// Builds the result of a call that has not run, and writes its audit row. A call that was recorded before ends in the ledger too.
    pub(in crate::run) async fn land(self, cx: &ToolContext) -> Landed {
        let stop = match self.take() {
            Stopped::Early(early) => return early_landed(early, cx).await,
            Stopped::Held(stop) => stop,
        };
        let HeldStop {
            held: mut flight,
            mut guards,
            mut why,
            record,
        } = stop;
        let mut unbegun = None;
        if record.is_none()
            && let Some(refused) = Refused::of(&flight, cx)
        {
            (why, unbegun) = refused.reported(flight.gate(), why).await;
        }
        if record.is_none() {
            guards.body_is_left_out().await;
        } else {
            guards.body_ended();
        }
        traced(&flight);
        let mut identity = flight.context().identity().cloned();
        let redactor = flight.context().redactor();
        let (mut result, was_dropped) = match why {
            Why::Before(Before::Stored { result, failed }) => {
                let (outcome, citations) = stored::read(&result);
                if failed {
                    flight.context().has_left_nothing();
                }
                let outcome = redactor.clean(outcome);
                let mut result = flight.prepared_mut().close_kept(outcome);
                result.citations = redactor.clean(citations);
                result.replayed = true;
                flight.prepared().span.record("tool_core.replayed", true);
                // The earlier run already has an audit row.
                flight.forget();
                return Landed(result);
            }
            why => {
                let (mut ticket, mut unsettled) = (None, None);
                let was_dropped = matches!(why, Why::Dropped);
                let is_undecided = matches!(why, Why::Undecided(_));
                let error = match why {
                    Why::Before(Before::Unsettled(row)) => {
                        if row.attempt > 1 {
                            // The later attempt has its own audit row.
                            let operator = row.resolved_by.clone().unwrap_or_default();
                            flight.runs_as(row.attempt, operator);
                        }
                        let error = claim::interrupted(&row);
                        unsettled = Some(row);
                        error
                    }
                    Why::Waits(waits) => {
                        let span = &flight.prepared().span;
                        span.record("tool_core.approval.id", &*waits.id);
                        let error = ask::pending(&waits);
                        ticket = Some(*waits);
                        error
                    }
                    Why::Foreign(error) => {
                        // The row with this identity belongs to a different call.
                        identity = CallId::alone(flight.context().own_workspace()).ok();
                        error
                    }
                    why => why.into_error(),
                };
                let mut outcome = redactor.clean(Err(error));
                if let Some(record) = &record {
                    outcome = honest(&flight, record, outcome);
                    (outcome, unsettled) = in_part(&flight, outcome).await;
                }
                let mut result = flight.prepared_mut().close_kept(outcome);
                result.stopped = unsettled.is_none();
                result.found(unsettled);
                result.undecided = is_undecided;
                if unbegun.is_some() {
                    result.looked_up = unbegun;
                }
                result.tickets.extend(ticket);
                (result, was_dropped)
            }
        };
        result.replayed = false;
        match closing(&mut flight, record, &mut result, identity, was_dropped) {
            None => Landed(result),
            Some(closing) => written(closing, flight, guards, result).ended().await,
        }
    }
}

/// Ends a call whose scope was not opened: for example, its tool is hidden or missing, or its arguments do not match the schema.
#[cfg(feature = "host")]
async fn early_landed(mut early: Early, cx: &ToolContext) -> Landed {
    let (mut is_undecided, mut unbegun) = (false, None);
    if let Some(EarlyGate {
        gate,
        gated: Some(gated),
        ..
    }) = &early.gate
    {
        let refused = Refused {
            gated,
            call: &early.call,
            cx,
            tool: None,
            deadline: cx.deadline(),
        };
        let reason = early.error.model_text();
        let error = std::mem::replace(&mut early.error, ToolError::new(""));
        match refused.judge(gate, error, &reason).await {
            Refusal::Stands(error, found) => (early.error, unbegun) = (error, Some(found)),
            // The audit row of the earlier run is the row of this call.
            Refusal::Before(before) => return Landed(answered(early.call, cx, before)),
            Refusal::Undecided(error) => (early.error, is_undecided) = (error, true),
        }
    }
    let mut result = record::refuse(early, cx).await;
    result.undecided = is_undecided;
    result.looked_up = unbegun;
    result.stopped = true;
    Landed(result)
}

/// Adds the decision to the call's span, and the arguments if the gate traces content.
#[cfg(feature = "host")]
fn traced(flight: &Flight) {
    let prepared = flight.prepared();
    telemetry::decided(&prepared.span, flight.verdicts());
    if flight.gate().traces_content() {
        telemetry::arguments(&prepared.span, prepared.arguments(), &prepared.cx);
    }
}

/// Rewrites an error to report the outcome of the body, even if the error is from a hook or a limit: the call took effect if the body returned an output that
/// cannot be passed on; it may have taken effect if the body was cut off. In other cases, some errors get the number of nested calls that have run.
#[cfg(feature = "host")]
fn honest(
    flight: &Flight,
    record: &Record,
    outcome: Clean<Result<Output, ToolError>>,
) -> Clean<Result<Output, ToolError>> {
    let cx = flight.context();
    let Err(error) = outcome.get() else {
        return outcome;
    };
    let may_have_effect =
        matches!(record, Record::Row(_)) || !flight.prepared().tool().hints().read_only;
    if !may_have_effect {
        return outcome;
    }
    let (kind, what) = if cx.has_returned() {
        (
            error.kind(),
            "the tool ran and took effect, so do not call it again for the same purpose; its output cannot be shown",
        )
    } else if cx.was_cut() && !speaks_of_a_cut(error.kind()) {
        (
            ErrorKind::Interrupted,
            "the tool was interrupted and may have taken effect, so do not call it again for the same purpose",
        )
    } else if cx.made() > 0 && !matches!(error.kind(), ErrorKind::Failed | ErrorKind::Pending) {
        return has_made(cx, error);
    } else {
        return outcome;
    };
    let error = ToolError::of(kind, format!("{what}: {}", error.model_text()))
        .operator(error.operator_text());
    cx.redactor().clean(Err(error))
}

/// Adds the number of nested calls that have run to the error of a call.
#[cfg(feature = "host")]
fn has_made(cx: &ToolContext, error: &ToolError) -> Clean<Result<Output, ToolError>> {
    let made = refusal::made(cx.made() as usize);
    let text = format!("{} ({made})", error.model_text());
    let error = ToolError::of(error.kind(), text).operator(error.operator_text());
    cx.redactor().clean(Err(error))
}

/// Corrects the outcome of a recorded call whose body has not begun, if an earlier run of it has made calls. Also returns the row of a nested call
/// whose outcome is unknown.
#[cfg(feature = "host")]
async fn in_part(
    flight: &Flight,
    outcome: Clean<Result<Output, ToolError>>,
) -> (Clean<Result<Output, ToolError>>, Option<Box<EffectRow>>) {
    let cx = flight.context();
    let (Err(error), Some(refused)) = (outcome.get(), Refused::of(flight, cx)) else {
        return (outcome, None);
    };
    let has_begun = cx.is_inside() || cx.has_returned() || cx.has_called();
    if has_begun || matches!(error.kind(), ErrorKind::Failed | ErrorKind::Pending) {
        return (outcome, None);
    }
    let why = error.model_text();
    let same = ToolError::of(error.kind(), why.clone()).operator(error.operator_text());
    let (error, doubt) = match refused.judge_made(flight.gate(), same, &why).await {
        Refusal::Stands(error, _) if error.kind() != ErrorKind::Interrupted => {
            return (outcome, None);
        }
        Refusal::Stands(error, _) => (error, None),
        Refusal::Before(Before::Unsettled(row)) => (claim::interrupted(&row), Some(row)),
        Refusal::Before(Before::Stored { .. }) => return (outcome, None),
        Refusal::Undecided(failed) => {
            let text = format!("calls of an earlier run of this call may have run: {why}");
            let error = ToolError::of(ErrorKind::Interrupted, text);
            (error.operator(failed.operator_text()), None)
        }
    };
    (cx.redactor().clean(Err(error)), doubt)
}

/// Returns whether an error of this kind already reports that the body did not return: it was cut off, has panicked, or waits.
#[cfg(feature = "host")]
fn speaks_of_a_cut(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::TimedOut
            | ErrorKind::Cancelled
            | ErrorKind::Interrupted
            | ErrorKind::Panicked
            | ErrorKind::Pending
    )
}

/// Returns whether a call without a ledger row is over: it does not wait, its error is not `Denied`, `Unavailable` or `Interrupted`, and the lookup
/// of its earlier runs did not fail and found no unknown outcome.
#[cfg(feature = "host")]
fn has_nothing_to_come(result: &CallResult) -> bool {
    let may_come = result.error().is_some_and(|error| {
        matches!(
            error.kind(),
            ErrorKind::Pending
                | ErrorKind::Denied
                | ErrorKind::Unavailable
                | ErrorKind::Interrupted
        )
    });
    !may_come && !result.undecided && result.unsettled().is_none() && result.tickets.is_empty()
}

/// Collects the writes for the end of a call: to the ledger, to the thread, and to a required audit. Passes the row of a best-effort audit to its buffer.
#[cfg(feature = "host")]
fn closing(
    flight: &mut Flight,
    record: Option<Record>,
    result: &mut CallResult,
    identity: Option<CallId>,
    was_dropped: bool,
) -> Option<Closing> {
    let cx = flight.context();
    if flight.gate().traces_content()
        && let Some(output) = result.output_without_bytes()
    {
        telemetry::result(&flight.prepared().span, &output);
    }
    result.tickets.extend(cx.take_asked());
    // A body that fails because one of its calls waits for a person runs again when that person has answered, regardless of the error that the body returned.
    if let Some(ticket) = result.tickets.first()
        && let Some(error) = result.error()
        && error.kind() != ErrorKind::Pending
        && cx.may_go_on()
    {
        let error = ask::pending(ticket).operator(format!(
            "approval `{}` is pending, and the call failed without it: {}",
            ticket.id,
            error.operator_text()
        ));
        result.outcome = cx.redactor().clean(Err(error));
    }
    // A body that fails because the outcome of one of its calls is unknown runs again when an operator has settled that call.
    if result.unsettled().is_none()
        && result
            .error()
            .is_some_and(|error| error.kind() != ErrorKind::Pending)
        && let Some(doubt) = cx.take_doubt()
    {
        result.found(Some(doubt));
    }
    let ending = match record {
        Some(Record::Row(claim)) => Some(claim.ending(result, cx, was_dropped)),
        Some(Record::Nothing(_) | Record::Audited(_)) | None => None,
    };
    let has_left_nothing = match &ending {
        Some(ending) => ending.has_failed(),
        None => has_nothing_to_come(result),
    };
    if has_left_nothing {
        cx.has_left_nothing();
    }
    let is_released = ending.as_ref().is_some_and(Ending::is_released);
    // The next driver makes a call that was dropped before its body, so it gets no result now.
    let journal = flight.gate().journal();
    let journal = journal.filter(|_| !(was_dropped && is_released));
    let filed = journal.zip(identity.as_ref()).and_then(|(journal, call)| {
        let filing = cx.filing(call, journal)?;
        Some((Arc::clone(filing), filing.message(result)?))
    });
    let mut end = End::of(result);
    // The result is not stored if the caller has dropped the call or if a drain has cancelled it.
    let is_cancelled = result.error().map(ToolError::kind) == Some(ErrorKind::Cancelled);
    let is_left_open = is_cancelled && (was_dropped || flight.gate().is_draining());
    let may_begin = ending.is_none() || is_released;
    if (is_left_open && may_begin && flight.may_come_again()) || result.undecided {
        end = end.open();
    }
    let audit = flight.close(identity, end);
    if ending.is_none() && audit.is_none() {
        return None;
    }
    Some(Closing {
        gate: flight.gate().clone(),
        ending,
        audit,
        filed,
    })
}

/// Writes the end of a call, which counts as running until then.
#[cfg(feature = "host")]
fn written(closing: Closing, flight: Flight, guards: Guards, result: CallResult) -> Landing {
    let deadline = flight.context().deadline();
    if let Some(filing) = closing.deferred(&flight) {
        // The gate counts the call as running until its end is written.
        filing.defer(Box::pin(async move {
            closing.write(deadline).await;
            drop(guards);
        }));
        return Landing::Over(Landed(result));
    }
    Landing::Writing(Box::pin(async move {
        closing.write(deadline).await;
        drop((guards, flight));
        Landed(result)
    }))
}
