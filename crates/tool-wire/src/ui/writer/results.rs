//! Chunks for the progress and the results of calls, and for approval requests.

use serde_json::value::RawValue;
use tool_core::__private0::canonical;
use tool_core::store::ApprovalKind;
use tool_core::turn::{Outcome, ToolMessage, Turn};
use tool_core::{CallResult, Citation, ErrorKind, Ticket, ToolCall, ToolEvent, VariableNeed};

use super::{Call, State, Writer};
use crate::json::json;
use crate::ui::{Chunk, FinishReason, UiError};

const UNSETTLED: &str =
    "a call was started before and its outcome is unknown, an operator has to check it";

const BUSY: &str =
    "another answer in this conversation is being written, try again when it has ended";
const DRAINING: &str = "the server is shutting down, try again";

impl Writer {
    /// Shows an event of a call.
    pub fn event(&mut self, call: &str, event: &ToolEvent) -> Result<Vec<Chunk>, UiError> {
        match event {
            ToolEvent::Started => self.call(call).map(|_| Vec::new()),
            ToolEvent::Progress(step) => self.progress(call, step),
            ToolEvent::Done(result) => self.result(result),
        }
    }

    /// Shows progress of a call: a preliminary output, which the next output replaces.
    pub fn progress(&mut self, call: &str, step: &RawValue) -> Result<Vec<Chunk>, UiError> {
        let call = self.call(call)?;
        let open = [
            State::Available,
            State::Asked,
            State::Answered { approved: true },
        ];
        call.is(&open, "progress")?;
        // The call may have been approved and run elsewhere, so a call without an answer in this interface can report progress.
        call.state = State::Available;
        Ok(vec![Chunk::ToolOutputAvailable {
            tool_call_id: call.shown.clone(),
            output: step.to_owned(),
            dynamic: call.dynamic,
            preliminary: true,
        }])
    }

    /// Shows the result of a call, or the approval requests that the call waits for.
    pub fn result(&mut self, result: &CallResult) -> Result<Vec<Chunk>, UiError> {
        let Some(error) = result.error() else {
            let output = result.output().unwrap_or(RawValue::NULL);
            return self.output(result.id(), output, result.citations());
        };
        if error.kind() == ErrorKind::Pending && !result.tickets().is_empty() {
            return self.ask_all(result.tickets());
        }
        self.failed(
            result.id(),
            error.kind() == ErrorKind::Denied,
            error.model_text(),
        )
    }

    /// Shows the result of a call, as [`Turns::observe`](tool_core::turn::Turns::observe) reports it.
    pub fn stored(&mut self, message: &ToolMessage) -> Result<Vec<Chunk>, UiError> {
        if let Some(output) = &message.output {
            return self.output(&message.id, output, &message.citations);
        }
        let denied = message.is_of(ErrorKind::Denied);
        self.failed(&message.id, denied, message.text.clone())
    }

    fn output(
        &mut self,
        id: &str,
        output: &RawValue,
        citations: &[Citation],
    ) -> Result<Vec<Chunk>, UiError> {
        let call = self.call(id)?;
        call.is(
            &[
                State::Available,
                State::Asked,
                State::Answered { approved: true },
            ],
            "an output",
        )?;
        call.state = State::Done;
        let shown = call.shown.clone();
        let mut chunks = vec![Chunk::ToolOutputAvailable {
            tool_call_id: shown.clone(),
            output: output.to_owned(),
            dynamic: call.dynamic,
            preliminary: false,
        }];
        if !citations.is_empty() {
            chunks.push(Chunk::DataCitations {
                id: shown,
                data: citations.to_vec(),
            });
        }
        chunks.extend(self.end_inner(id));
        Ok(chunks)
    }

    fn failed(&mut self, id: &str, denied: bool, text: String) -> Result<Vec<Chunk>, UiError> {
        let call = self.call(id)?;
        if call.state == State::Done {
            return Err(call.not("an error"));
        }
        // In the protocol, a denial is the decision of a person. A policy's denial is shown as an error.
        let asked = matches!(
            call.state,
            State::Asked | State::Answered { approved: false }
        );
        call.state = State::Done;
        let tool_call_id = call.shown.clone();
        let mut chunks = vec![if denied && asked {
            Chunk::ToolOutputDenied { tool_call_id }
        } else {
            Chunk::ToolOutputError {
                tool_call_id,
                error_text: text,
                dynamic: call.dynamic,
            }
        }];
        chunks.extend(self.end_inner(id));
        Ok(chunks)
    }

    /// Ends the nested calls that are still open when the outer call ends: otherwise the interface would show their approval requests forever.
    fn end_inner(&mut self, outer: &str) -> Vec<Chunk> {
        let outer = format!("{outer}:");
        let inner = |call: &&mut Call| call.id.starts_with(&outer) && call.state != State::Done;
        let ended = self.calls.iter_mut().filter(inner).map(|call| {
            let denied = call.state == State::Answered { approved: false };
            call.state = State::Done;
            let tool_call_id = call.shown.clone();
            if denied {
                Chunk::ToolOutputDenied { tool_call_id }
            } else {
                Chunk::ToolOutputAvailable {
                    tool_call_id,
                    output: RawValue::NULL.to_owned(),
                    dynamic: call.dynamic,
                    preliminary: false,
                }
            }
        });
        ended.collect()
    }

    /// Shows an approval request, with the arguments of the call after repairs. Fails with [`UiError::NoSuchCall`] for a ticket about a plan.
    pub fn ask(&mut self, ticket: &Ticket) -> Result<Vec<Chunk>, UiError> {
        if ticket.kind == ApprovalKind::Plan {
            return Err(UiError::NoSuchCall {
                call: ticket.id.clone(),
            });
        }
        self.finish = FinishReason::ToolCalls;
        let mut chunks = Vec::new();
        if ticket.parent.is_some() && self.call(&ticket.call).is_err() {
            self.begin(&ticket.call, &ticket.tool, State::Available);
        }
        let call = self.call(&ticket.call)?;
        call.is(
            &[
                State::Available,
                State::Asked,
                State::Answered { approved: true },
            ],
            "a question",
        )?;
        if canonical(&call.input).as_deref() != Some(&ticket.arguments) {
            chunks.push(self.show_input(&ticket.call, &ticket.arguments)?);
        }
        let call = self.call(&ticket.call)?;
        call.state = State::Asked;
        chunks.push(Chunk::ToolApprovalRequest {
            approval_id: ticket.token.clone(),
            tool_call_id: call.shown.clone(),
            reason: ticket.reason.clone(),
        });
        Ok(chunks)
    }

    /// Shows a call's arguments in place of the arguments that were shown before.
    pub(super) fn show_input(&mut self, id: &str, arguments: &str) -> Result<Chunk, UiError> {
        let call = self.call(id)?;
        arguments.clone_into(&mut call.input);
        let (tool_call_id, tool_name) = (call.shown.clone(), call.name.clone());
        let input = serde_json::from_str(arguments);
        let (dynamic, title) = self.look(&tool_name);
        Ok(Chunk::ToolInputAvailable {
            tool_call_id,
            tool_name,
            input: input.unwrap_or_else(|_| json(arguments)),
            dynamic,
            title,
        })
    }

    /// Shows the calls that the client runs, with the arguments that the client receives. The interface sends their results.
    fn pass_on(&mut self, calls: &[ToolCall]) -> Result<Vec<Chunk>, UiError> {
        self.finish = FinishReason::ToolCalls;
        let mut chunks = Vec::new();
        for ToolCall { id, arguments, .. } in calls {
            if canonical(&self.call(id)?.input) != canonical(arguments) {
                chunks.push(self.show_input(id, arguments)?);
            }
        }
        Ok(chunks)
    }

    fn ask_all(&mut self, tickets: &[Ticket]) -> Result<Vec<Chunk>, UiError> {
        let mut chunks = Vec::new();
        for ticket in tickets {
            chunks.extend(self.ask(ticket)?);
        }
        Ok(chunks)
    }

    /// Shows the state of a message's calls: results that were not shown yet, approval requests, calls for the client, missing variables, or the
    /// error that ends the message.
    pub fn turn(&mut self, turn: &Turn) -> Result<Vec<Chunk>, UiError> {
        match turn {
            Turn::Complete(results) => {
                let mut chunks = Vec::new();
                for result in results {
                    let over = |call: &Call| call.id == result.id && call.state == State::Done;
                    if !self.calls.iter().any(over) {
                        chunks.extend(self.stored(result)?);
                    }
                }
                Ok(chunks)
            }
            Turn::Waiting(tickets) => self.ask_all(tickets),
            Turn::Client(calls) => self.pass_on(calls),
            Turn::Lacking(needs) => Ok(self.lacking(needs)),
            Turn::Unsettled(_) => Ok(self.error(UNSETTLED)),
            Turn::Deadline => {
                self.finish = FinishReason::Other;
                Ok(Vec::new())
            }
            Turn::Draining => Ok(self.error(DRAINING)),
            Turn::Busy(_) => Ok(self.error(BUSY)),
        }
    }

    /// Shows how a run has ended: its text unless a text was shown before, approval requests, calls for the client, missing variables, or the error
    /// that ends the message.
    pub fn outcome(&mut self, outcome: &Outcome) -> Result<Vec<Chunk>, UiError> {
        match outcome {
            Outcome::Answered(text)
            | Outcome::Replied(text)
            | Outcome::Length(text)
            | Outcome::Filtered(text)
            | Outcome::Cut(text) => {
                match outcome {
                    Outcome::Length(_) => self.finish = FinishReason::Length,
                    Outcome::Filtered(_) => self.finish = FinishReason::ContentFilter,
                    Outcome::Cut(_) => self.finish = FinishReason::Other,
                    _ => {}
                }
                let mut chunks = Vec::new();
                if !self.streamed.text && !text.is_empty() {
                    chunks.extend(self.begin_step());
                    chunks.extend(self.write(text));
                    self.streamed.text = true;
                }
                Ok(chunks)
            }
            Outcome::Guardrail(tripped) => Ok(self.withheld(&tripped.text)),
            Outcome::Waiting(tickets) => self.ask_all(tickets),
            Outcome::Client(calls) => self.pass_on(calls),
            Outcome::Lacking(needs) => Ok(self.lacking(needs)),
            Outcome::Unsettled(_) => Ok(self.error(UNSETTLED)),
            Outcome::Draining => Ok(self.error(DRAINING)),
            Outcome::Busy(_) => Ok(self.error(BUSY)),
            Outcome::StepLimit
            | Outcome::Budget
            | Outcome::SharedBudget(_)
            | Outcome::TimeLimit
            | Outcome::Cancelled
            | Outcome::Interrupted
            | Outcome::Deadline => {
                self.finish = FinishReason::Other;
                Ok(Vec::new())
            }
        }
    }

    fn lacking(&mut self, needs: &[VariableNeed]) -> Vec<Chunk> {
        self.finish = FinishReason::ToolCalls;
        let need = |need: &VariableNeed| serde_json::json!({"name": need.name, "description": need.description});
        vec![Chunk::DataVariablesRequired {
            id: "variables-required".to_owned(),
            data: needs.iter().map(need).collect(),
        }]
    }
}
