//! Outcomes of the runs of child threads.

use std::time::Duration;

use tool_core::store::EffectRow;
use tool_core::turn::{ClientResult, Outcome, TurnError};
use tool_core::{ErrorKind, Ticket, ToolContext, ToolError};

use super::error::RuntimeError;

/// The end of a run of a child thread.
pub(super) enum Ended {
    /// The agent wrote its last text.
    Answered(String),
    /// The run failed, with the text for a model.
    Failed(String),
    /// The run has not ended: it continues after a person has answered, after a wait, or with a later drive.
    Paused(Pause),
    /// The agent called tools that a client runs, but a child has no client. The field contains an error result for each of these calls.
    Client(Vec<ClientResult>),
    /// Another process drives the thread.
    Busy,
}

/// Why a run of a child is paused.
pub(super) struct Pause {
    pub(super) error: ToolError,
    pub(super) tickets: Vec<Ticket>,
    /// A call whose outcome is unknown.
    pub(super) unsettled: Option<Box<EffectRow>>,
    /// Whether the run waits for a person.
    pub(super) for_human: bool,
}

impl Pause {
    /// Creates the pause of a run whose provider requested a wait.
    pub(super) fn for_time(wait: Duration, why: impl Into<String>) -> Self {
        let text = "the agent waits for its model";
        let error = ToolError::of(ErrorKind::Pending, text).operator(why);
        Self::until_later(error.retry_after(wait))
    }

    /// Returns the time after which the run continues, if it waits for a time.
    pub(super) fn time(&self) -> Option<Duration> {
        let waits = self.error.kind() == ErrorKind::Pending && !self.for_human;
        self.error.wait().filter(|_| waits)
    }

    pub(super) fn until_later(error: ToolError) -> Self {
        Self {
            error,
            tickets: Vec::new(),
            unsettled: None,
            for_human: false,
        }
    }

    /// Returns the error of the call that runs the child. If the child waits for a person, the turn of the call waits, too.
    pub(super) fn into_error(self, cx: &ToolContext) -> ToolError {
        cx.wait_for(&self.tickets);
        if let Some(row) = &self.unsettled {
            cx.wait_for_effect(row);
        }
        self.error
    }
}

/// Converts the outcome of a child's run.
pub(super) fn ended(outcome: Result<Outcome, RuntimeError>) -> Ended {
    let waits = |error: ToolError, tickets| {
        Ended::Paused(Pause {
            error,
            tickets,
            unsettled: None,
            for_human: true,
        })
    };
    match outcome {
        Ok(Outcome::Answered(text) | Outcome::Replied(text)) => Ended::Answered(text),
        Ok(Outcome::Length(_)) => {
            Ended::Failed("the agent's answer reached the limit on tokens".to_owned())
        }
        Ok(Outcome::Filtered(_)) => Ended::Failed("the agent's answer was withheld".to_owned()),
        Ok(Outcome::Guardrail(tripped)) => Ended::Failed(format!(
            "a guardrail ended the agent's run: {}",
            tripped.text
        )),
        Ok(Outcome::Cut(_)) => Ended::Failed("the agent's answer is incomplete".to_owned()),
        Ok(Outcome::StepLimit) => {
            Ended::Failed("the agent reached its limit on steps before it answered".to_owned())
        }
        Ok(Outcome::Budget) => Ended::Failed(
            "the agent reached its limit on tokens or on cost before it answered".to_owned(),
        ),
        Ok(Outcome::TimeLimit) => {
            Ended::Failed("the agent reached its limit on time before it answered".to_owned())
        }
        Ok(Outcome::SharedBudget(_)) => Ended::Failed(
            "the budget that the agents share was used up before the agent answered".to_owned(),
        ),
        Ok(Outcome::Cancelled | Outcome::Interrupted) => {
            Ended::Failed("the agent was cancelled".to_owned())
        }
        Ok(Outcome::Waiting(tickets)) => {
            let text = "a call of the agent waits for an approval";
            waits(ToolError::of(ErrorKind::Pending, text), tickets)
        }
        Ok(Outcome::Lacking(needs)) => waits(ToolError::variables_required(needs), Vec::new()),
        Ok(Outcome::Unsettled(row)) => {
            let text =
                "the outcome of a call of the agent is unknown, and an operator has to settle it";
            let key = row.intent.identity.key();
            let error = ToolError::of(ErrorKind::Interrupted, text);
            Ended::Paused(Pause {
                error: error.operator(format!("settle the call {}", key.as_str())),
                tickets: Vec::new(),
                unsettled: Some(row),
                for_human: true,
            })
        }
        Ok(Outcome::Client(calls)) => Ended::Client(
            calls
                .into_iter()
                .map(|call| ClientResult::failed(call.id, "no client is connected to this agent"))
                .collect(),
        ),
        Ok(Outcome::Busy(_)) => Ended::Busy,
        Ok(Outcome::Deadline) => Ended::Paused(Pause::until_later(ToolError::of(
            ErrorKind::TimedOut,
            "the deadline passed before the agent answered",
        ))),
        Ok(Outcome::Draining) => Ended::Paused(Pause::until_later(ToolError::of(
            ErrorKind::Unavailable,
            "the host is shutting down",
        ))),
        Err(RuntimeError::Turn(error)) if let Some(wait) = error.resumes_after() => {
            Ended::Paused(Pause::for_time(wait, error.to_string()))
        }
        Err(RuntimeError::Turn(TurnError::Model(error))) => {
            tracing::warn!(
                error = error.operator_text(),
                "the model of an agent failed"
            );
            Ended::Failed(format!("the agent failed: {}", error.model_text()))
        }
        Err(RuntimeError::Turn(error @ TurnError::PauseLimit { .. })) => {
            tracing::warn!(%error, "the turn of an agent was not continued");
            Ended::Failed("the provider of the agent's model paused too often".to_owned())
        }
        Err(error) => Ended::Paused(Pause::until_later(
            ToolError::unavailable("the agent").operator(error.to_string()),
        )),
    }
}
