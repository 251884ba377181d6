//! What a call that is not run is told: that it was not run only where no earlier run of it has left anything.

use super::claim::{self, Before};
use super::resume::answered;
use super::steps::Why;
use crate::call::{CallResult, ToolCall};
use crate::context::{Gated, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;

/// What may be said of a call that is refused.
pub(super) enum Refusal {
    /// This: it has not run.
    Stands(ToolError),
    /// It has run before, or that is not known.
    Before(Before),
    /// A store failed, so nothing may be said.
    Undecided(ToolError),
}

/// A call that is refused.
pub(super) struct Refused<'a> {
    pub(super) gated: &'a Gated,
    pub(super) call: &'a ToolCall,
    pub(super) cx: &'a ToolContext,
}

impl Refused<'_> {
    /// Asks the ledger before anybody is told that the call was not run.
    pub(super) async fn judge(&self, gate: &Gate, error: ToolError) -> Refusal {
        match claim::earlier(gate, self.gated, self.call, self.cx).await {
            Ok(Some(before)) => Refusal::Before(before),
            Ok(None) => Refusal::Stands(error),
            Err(error) => Refusal::Undecided(error),
        }
    }

    /// What is said of a call that has stopped before its body and before it was written down.
    pub(super) async fn told(&self, gate: &Gate, why: Why) -> Why {
        match why {
            // An earlier call of the message waits: the call is open, and nothing is said of it.
            Why::Refused(error)
                if error.kind() == ErrorKind::Pending && error.missing_variables().is_empty() =>
            {
                Why::Refused(error)
            }
            Why::Refused(error) => match self.judge(gate, error).await {
                Refusal::Stands(error) => Why::Refused(error),
                Refusal::Before(before) => Why::Before(before),
                Refusal::Undecided(error) => Why::Undecided(error),
            },
            // The row belongs to a run of this very call, with another tool or other arguments: those of another version of the host.
            Why::Foreign(error) if self.gated.is_of_turn() => match self.judge(gate, error).await {
                Refusal::Stands(error) => Why::Foreign(error),
                Refusal::Before(Before::Unsettled(row)) => Why::Before(Before::Unsettled(row)),
                Refusal::Before(Before::Stored(_)) => Why::Foreign(ToolError::of(
                    ErrorKind::Interrupted,
                    "an earlier run of this call, with another tool or other arguments, has ended already; the call is not run again",
                )),
                Refusal::Undecided(error) => Why::Undecided(error),
            },
            why => why,
        }
    }
}

/// The result of a call that a turn does not run.
pub(crate) async fn refuse(
    gate: Option<&Gate>,
    call: &ToolCall,
    cx: &ToolContext,
    error: ToolError,
) -> CallResult {
    let refusal = match gate.map(|gate| (gate, Gated::open(cx, call, None))) {
        Some((gate, Ok(gated))) => {
            let gated = &gated;
            let refused = Refused { gated, call, cx };
            refused.judge(gate, error).await
        }
        Some((_, Err(_))) | None => Refusal::Stands(error),
    };
    let is_undecided = matches!(refusal, Refusal::Undecided(_));
    let error = match refusal {
        Refusal::Before(before) => return answered(call.clone(), cx, before),
        Refusal::Stands(error) | Refusal::Undecided(error) => error,
    };
    let mut result = CallResult::refused_in(cx, call.clone(), error);
    result.undecided = is_undecided;
    result.stopped = true;
    result
}
