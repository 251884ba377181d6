//! Results of calls that are not run. A result reports that the call was not run only if no earlier run of the call has left a row.

use std::future::Future;

use tokio::time::Instant;

use super::claim::{self, Before};
use super::record;
use super::resume::answered;
use super::steps::{Flight, Why};
use super::unbegun;
use crate::call::{CallResult, LookedUp, ToolCall};
use crate::context::{Gated, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::run::ask;
use crate::store::{EffectFilter, EffectRow, EffectState, Scope, StoreError};
use crate::tool::ToolDef;

/// Page size of the search for the rows of nested calls.
const PAGE: u32 = 200;

/// The result of looking up earlier runs of a refused call.
pub(super) enum Refusal {
    /// The error is correct: the call has not run, or only a part of it has.
    Stands(ToolError, Box<LookedUp>),
    /// An earlier run left a row; its outcome may be unknown.
    Before(Before),
    /// A store failed, so it is not known whether the call has run.
    Undecided(ToolError),
}

/// A refused call, with the data for looking up its earlier runs.
pub(super) struct Refused<'a> {
    pub(super) gated: &'a Gated,
    pub(super) call: &'a ToolCall,
    pub(super) cx: &'a ToolContext,
    /// The tool of the call, if it is known.
    pub(super) tool: Option<&'a ToolDef>,
    /// The deadline of the call.
    pub(super) deadline: Option<Instant>,
}

impl<'a> Refused<'a> {
    /// Describes a call that was found and whose arguments match the schema. `cx` is the context of the caller or of the call.
    pub(super) fn of(flight: &'a Flight, cx: &'a ToolContext) -> Option<Self> {
        let scope = flight.prepared().cx.served();
        Some(Self {
            gated: scope.gated.as_deref()?,
            call: &scope.call,
            cx,
            tool: Some(flight.prepared().tool()),
            deadline: flight.context().deadline(),
        })
    }

    /// Looks up the call in the ledger before a result reports that the call was not run. If a part of the call has run, `why` is the reason for not running
    /// the rest.
    pub(super) async fn judge(&self, gate: &Gate, error: ToolError, why: &str) -> Refusal {
        let asked = async {
            if let Some(before) = claim::earlier(gate, self.gated, self.call, self.cx).await? {
                return Ok(Refusal::Before(before));
            }
            let refusal = self.in_part(gate, error, why).await?;
            Box::pin(self.closed(gate, refusal)).await
        };
        self.in_time(asked).await
    }

    /// Returns the refusal. For a nested call that the token of an approval could start at the same time, first closes the key of the call in the
    /// ledger. The turn closes the keys of the model's calls.
    async fn closed(&self, gate: &Gate, refusal: Refusal) -> Result<Refusal, ToolError> {
        let approvals = gate.approvals().filter(|_| self.gated.is_made_in_turn());
        let (Refusal::Stands(error, _), Some(approvals)) = (&refusal, approvals) else {
            return Ok(refusal);
        };
        let stays_open = matches!(error.kind(), ErrorKind::Pending | ErrorKind::Unavailable)
            || !error.missing_variables().is_empty();
        if stays_open || !ask::may_be_resumed(approvals, self.gated.identity(), self.cx).await? {
            return Ok(refusal);
        }
        let shown = ToolError::of(error.kind(), error.model_text()).operator(error.operator_text());
        let (call, cx) = (self.call, self.cx);
        let result = CallResult::refused_in(cx, call.clone(), shown);
        let closed = unbegun::close_refused(gate, self.gated, self.tool, call, cx, &result).await;
        match closed {
            Ok(()) => Ok(refusal),
            // The call has begun in the meantime.
            Err(failed) => match claim::earlier(gate, self.gated, call, cx).await? {
                Some(before) => Ok(Refusal::Before(before)),
                None => Err(failed),
            },
        }
    }

    /// Does the same as [`judge`](Self::judge), but looks up only the nested calls of an earlier run, because the call's own row belongs to this run.
    pub(super) async fn judge_made(&self, gate: &Gate, error: ToolError, why: &str) -> Refusal {
        self.in_time(self.in_part(gate, error, why)).await
    }

    async fn in_time(&self, asked: impl Future<Output = Result<Refusal, ToolError>>) -> Refusal {
        let asked = record::soon(self.deadline, asked).await;
        asked.unwrap_or_else(Refusal::Undecided)
    }

    async fn in_part(
        &self,
        gate: &Gate,
        error: ToolError,
        why: &str,
    ) -> Result<Refusal, ToolError> {
        let made = self.made(gate).await;
        let made = made.map_err(|failed| claim::unavailable(&failed))?;
        Ok(in_part(made, error, why))
    }

    /// Returns the rows of calls that an earlier run of the call has made. A call that waits for a nested call has no row of its own.
    async fn made(&self, gate: &Gate) -> Result<Vec<EffectRow>, StoreError> {
        let runs_again = |tool: &ToolDef| tool.hints().idempotent || tool.only_calls();
        let identity = self.gated.identity();
        let ledger = gate.ledger().filter(|_| {
            // A call that does not run again keeps its own row, so its nested calls are not looked up.
            !self.gated.is_new() && self.tool.is_none_or(runs_again)
        });
        let mut made = Vec::new();
        let (Some(ledger), Some(thread)) = (ledger, identity.conversation()) else {
            return Ok(made);
        };
        let mut filter = EffectFilter {
            thread: Some(thread.to_owned()),
            limit: Some(PAGE),
            ..EffectFilter::default()
        };
        loop {
            let scope = Scope::Workspace(identity.workspace());
            let page = ledger.store.page(scope, &filter).await?;
            let is_last = page.len() < PAGE as usize;
            filter.after = page.last().map(EffectRow::place);
            made.extend(
                page.into_iter()
                    .filter(|row| row.intent.identity.is_within(identity)),
            );
            if is_last {
                return Ok(made);
            }
        }
    }

    /// Decides which reason is reported for a call that stopped before its body and before its row was written. Also returns the nested calls that were found.
    pub(super) async fn reported(&self, gate: &Gate, why: Why) -> (Why, Option<Box<LookedUp>>) {
        let mut unbegun = None;
        let why = match why {
            // An earlier call of the message waits, or the call needs an approval that the gate cannot request: it stays open, so nothing is looked
            // up.
            Why::Refused(error)
                if error.kind() == ErrorKind::Pending && error.missing_variables().is_empty() =>
            {
                Why::Refused(error)
            }
            Why::Refused(error) => {
                let reason = error.model_text();
                match self.judge(gate, error, &reason).await {
                    Refusal::Stands(error, found) => {
                        unbegun = Some(found);
                        Why::Refused(error)
                    }
                    Refusal::Before(before) => Why::Before(before),
                    Refusal::Undecided(error) => Why::Undecided(error),
                }
            }
            // The row belongs to a run of this same call with a different tool or different arguments, made by a different version of the host.
            Why::Foreign(error) if self.gated.is_of_turn() => {
                let reason = error.model_text();
                match self.judge(gate, error, &reason).await {
                    Refusal::Stands(error, _) => Why::Foreign(error),
                    Refusal::Before(Before::Unsettled(row)) => Why::Before(Before::Unsettled(row)),
                    Refusal::Before(Before::Stored { .. }) => Why::Foreign(ToolError::of(
                        ErrorKind::Interrupted,
                        "an earlier run of this call, with a different tool or arguments, has already ended; the call is not run again",
                    )),
                    Refusal::Undecided(error) => Why::Undecided(error),
                }
            }
            why => why,
        };
        (why, unbegun)
    }
}

/// Builds the refusal of a call whose earlier run may have made calls.
fn in_part(made: Vec<EffectRow>, error: ToolError, why: &str) -> Refusal {
    let keys = made.iter().map(|row| row.intent.identity.key()).collect();
    let unbegun = Box::new(LookedUp::Unbegun(keys));
    let is_open =
        |row: &EffectRow| matches!(row.state, EffectState::Running | EffectState::Ambiguous);
    let (open, ended): (Vec<_>, Vec<_>) = made.into_iter().partition(is_open);
    if let Some(doubt) = open.into_iter().next() {
        return Refusal::Before(Before::Unsettled(Box::new(doubt)));
    }
    let ran = |row: &&EffectRow| row.state == EffectState::Succeeded;
    let tools: Vec<&str> = ended
        .iter()
        .filter(ran)
        .map(|row| &*row.intent.tool)
        .collect();
    if tools.is_empty() {
        return Refusal::Stands(error, unbegun);
    }
    let what = self::made(tools.len());
    let text = format!(
        "an earlier run of this call was interrupted: {what}, so do not call it again for the same purpose; the rest was not run: {why}"
    );
    // The model may not know the names of these tools.
    let operator = format!(
        "calls of these tools have run: {}; {}",
        tools.join(", "),
        error.operator_text()
    );
    let error = ToolError::of(ErrorKind::Interrupted, text).operator(operator);
    Refusal::Stands(error, unbegun)
}

/// Returns the text for the model about nested calls that have run.
pub(super) fn made(calls: usize) -> String {
    match calls {
        1 => "1 call that it made has run".to_owned(),
        some => format!("{some} calls that it made have run"),
    }
}

/// Returns the result of a call that a turn does not run.
pub(crate) async fn refuse(
    gate: Option<&Gate>,
    tool: Option<&ToolDef>,
    call: &ToolCall,
    cx: &ToolContext,
    error: ToolError,
    why: &str,
) -> CallResult {
    let refusal = match gate.map(|gate| (gate, Gated::open(cx, call, None))) {
        Some((gate, Ok(gated))) => {
            let gated = &gated;
            let refused = Refused {
                gated,
                call,
                cx,
                tool,
                deadline: cx.deadline(),
            };
            refused.judge(gate, error, why).await
        }
        Some((_, Err(_))) | None => {
            let unbegun = LookedUp::Unbegun(Vec::new());
            Refusal::Stands(error, Box::new(unbegun))
        }
    };
    let (error, unbegun) = match refusal {
        Refusal::Before(before) => return answered(call.clone(), cx, before),
        Refusal::Stands(error, unbegun) => (error, Some(unbegun)),
        Refusal::Undecided(error) => (error, None),
    };
    let mut result = CallResult::refused_in(cx, call.clone(), error);
    result.undecided = unbegun.is_none();
    result.looked_up = unbegun;
    result.stopped = true;
    result
}
