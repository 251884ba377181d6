//! The agent loop: requests to a model, and the calls of its messages.

use std::pin::pin;
use std::sync::Arc;

use futures::future::{BoxFuture, Either, select};

use super::budget::{Budget, StepBudget};
use super::held::{Halt, Held, Hold};
use super::thread::{Fence, Last, Thread};
use super::{
    ClientResult, GuardrailKind, ModelMessage, StopReason, ToolMessage, Tripped, Turn, TurnError,
    Turns, thread,
};
use crate::call::{Ticket, ToolCall};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::need::VariableNeed;
use crate::store::{BudgetRow, EffectRow, Journal, Message, RunCause, RunId, Usage};
use crate::toolset::Toolset;

/// A source of messages for a thread: a provider's model, or a script.
#[doc(alias("LLM", "chat model", "completion"))]
pub trait Model: Send {
    /// Returns the next message. An error ends the run; stored messages remain.
    ///
    /// An error of the kind [`Pending`](crate::ErrorKind::Pending) with a [wait](ToolError::retry_after) suspends the run: the provider has requested
    /// a wait that is too long for a run to stay in memory. [`TurnError::resumes_after`] is then the wait.
    ///
    /// If the run is stopped, the future is dropped, which must end a request in flight.
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>>;

    /// Returns the part of the model's message that the user has already seen, if a cancellation or a new message of the user has ended
    /// [`next`](Self::next). This part is stored as the model's message, so that the next request contains it. `None` (default) stores nothing.
    ///
    /// Mark the message as [`truncated`](ModelMessage::truncated), and leave out its calls.
    fn interrupted(&mut self) -> Option<ModelMessage> {
        None
    }

    /// Returns the tokens of requests that [`next`](Self::next) has made and that were returned neither with a message nor by an earlier call of this
    /// method: the tokens of failed attempts and of other models. [`Turns::drive`] calls it after each message, after an error and after the run was
    /// stopped, and adds the tokens to the usage of the run. The default returns `None`.
    fn unsettled_usage(&mut self) -> Option<Usage> {
        None
    }

    /// Returns the number of requests of [`next`](Self::next) that may have used tokens and reported no usage: failed attempts, and a request that
    /// was stopped. The request of the returned message is not included. Each request is counted once. The default returns 0. A
    /// [`Budget`](super::Budget) keeps the estimate of each of these requests.
    fn unmeasured_requests(&mut self) -> u32 {
        0
    }

    /// Estimates the most that a request may use, for a [`Budget`](super::Budget): the tokens of the input, the limit on the output, and with prices
    /// the [cost](Usage::cost_micros). `output` is the assumed output of a model without a limit. The default implementation estimates the input with
    /// [`ModelRequest::estimated_tokens`], and returns no cost.
    fn estimate(&mut self, request: &ModelRequest<'_>, output: u64) -> Usage {
        Usage {
            input_tokens: request.estimated_tokens(),
            output_tokens: output,
            ..Usage::default()
        }
    }
}

/// The input of one request to a model.
#[derive(Clone, Copy, Debug)]
pub struct ModelRequest<'a> {
    /// The thread, in the order in which the model reads it: a message that a user or the host wrote while the model was writing comes after the
    /// model's message.
    pub messages: &'a [Message],
    /// The tools that the model may call.
    pub tools: &'a Toolset,
    /// The number of this step since the last message of the user; the first is 1. The continuation of a paused turn has the number of the step that
    /// it continues.
    pub step: u32,
    /// The context of the run: its caller, deadline and cancellation.
    pub cx: &'a ToolContext,
}

/// How a run ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The model has answered. This is the text of its last message.
    Answered(String),
    /// A tool has replied to the user with this text, so no further message of the model is requested.
    Replied(String),
    /// The model's message reached the limit on tokens. This is the text so far.
    Length(String),
    /// A filter of the provider withheld the message, or the model refused. This is the text so far.
    Filtered(String),
    /// A guardrail of the host ended the run. Its text is stored as the model's message, so another drive returns it again, without a request.
    Guardrail(Tripped),
    /// The model's message is not complete for another reason: the stream ended early, or the provider stopped for the reason in
    /// [`ModelMessage::stop`] of the thread's last message. This is the text so far.
    Cut(String),
    /// Calls wait for a person. Drive the thread again when all tickets are answered.
    Waiting(Vec<Ticket>),
    /// These calls are for the client, as in [`Turn::Client`]. Continue with [`Turns::supply`], then drive the thread again.
    Client(Vec<ToolCall>),
    /// Calls need variables that have no value. Supply them and drive the thread again.
    Lacking(Vec<VariableNeed>),
    /// An earlier run began a call or one of its nested calls, and the outcome is unknown, as in [`Turn::Unsettled`]. Drive the thread again when the
    /// call's row is settled.
    Unsettled(Box<EffectRow>),
    /// The run reached its limit on steps: [`Turns::most_steps`].
    StepLimit,
    /// The [`Budget`](super::Budget) that the run shares with others has less left than the next request may use. This is the row of the budget.
    SharedBudget(Box<BudgetRow>),
    /// The run reached its limit on tokens or on its cost: [`Turns::most_tokens`], [`Turns::most_cost`].
    Budget,
    /// The runs since the last message of the user reached their limit on time: [`Turns::most_time`]. Calls without a stored result are open.
    TimeLimit,
    /// The run was cancelled by the token of its context or by [`Turns::cancel`]. The results of calls that had not begun report the cancellation.
    Cancelled,
    /// A new message of the user arrived: [`DuringRun::Interrupt`](super::DuringRun::Interrupt). Drive the thread again to answer it.
    Interrupted,
    /// The deadline of the context passed. Calls without a stored result are open; drive the thread again to continue.
    Deadline,
    /// The host is shutting down. Calls without a stored result are open; drive the thread again in another process.
    Draining,
    /// This run of the thread is active in another drive, or it was taken over or ended while this drive ran. This drive began no calls after it
    /// detected that. Drive the thread again when the run has ended, even if a message was stored before, because the run may have ended without
    /// reading it.
    Busy(RunId),
}

impl Outcome {
    /// Returns the cause that is stored in the run's row; `None` for [`Busy`](Self::Busy), because this drive does not store the end of that run.
    pub fn cause(&self) -> Option<RunCause> {
        Some(match self {
            Self::Answered(_) | Self::Replied(_) => RunCause::Replied,
            Self::Length(_) => RunCause::Length,
            Self::Filtered(_) => RunCause::Filtered,
            Self::Guardrail(_) => RunCause::Guardrail,
            Self::Cut(_) => RunCause::Failed,
            Self::Waiting(_) | Self::Client(_) => RunCause::Waiting,
            Self::Lacking(_) => RunCause::Lacking,
            Self::Unsettled(_) => RunCause::Unsettled,
            Self::StepLimit => RunCause::Steps,
            Self::Budget => RunCause::Budget,
            Self::TimeLimit => RunCause::Time,
            Self::SharedBudget(_) => RunCause::SharedBudget,
            Self::Cancelled => RunCause::Cancelled,
            Self::Interrupted => RunCause::Interrupted,
            Self::Deadline => RunCause::Deadline,
            Self::Draining => RunCause::Draining,
            Self::Busy(_) => return None,
        })
    }

    fn halted(halt: Halt, held: &Held) -> Self {
        match halt {
            Halt::Lost => Self::Busy(held.id().clone()),
            Halt::Cancelled => Self::Cancelled,
            Halt::Interrupted => Self::Interrupted,
            Halt::Deadline => Self::Deadline,
            Halt::Draining => Self::Draining,
        }
    }
}

impl Turns {
    /// Sends requests to the model and runs its calls until the run ends, usually because the model makes no more calls. [`Outcome`] and
    /// [`TurnError`] list the other reasons.
    ///
    /// `cx` names the workspace and the conversation. The thread stores the whole state, so calling `drive` again continues where an earlier drive
    /// stopped, such as after an approval or a crash. `tools` is called before each step, so that rules may change between two steps.
    ///
    /// A run answers the last message of a user. If the model has answered it already, `drive` returns that answer again, without a run or a request.
    /// A failed call does not end the run: the model reads the error and continues.
    ///
    /// Each other drive is a run with a row in the [`RunStore`](crate::store::RunStore) and a lease, which is renewed while the run is active. If two
    /// drives of one thread run at once, even in different processes, only one continues. The other drive returns [`Outcome::Busy`] without running a
    /// call or sending a request. If a process dies, another drive can take over when the [`lease`](Self::lease) ends.
    ///
    /// If the provider pauses a turn ([`StopReason::Paused`]), the message is sent back unchanged and the step continues, at most
    /// [`most_pauses`](Self::most_pauses) consecutive times.
    ///
    /// Cancellation, deadline and drain end the run before the next request to the model, and also end a request in flight.
    pub async fn drive<M: Model + ?Sized>(
        &self,
        model: &mut M,
        tools: impl Fn(&ToolContext) -> Toolset,
        cx: &ToolContext,
    ) -> Result<Outcome, TurnError> {
        let thread_now = self.read(cx).await?;
        if let Some((last, _, false)) = thread_now.last_of_model()?
            && is_last(&last.message)
        {
            return Ok(said(&last.message));
        }
        match self.hold(thread(cx)?, cx).await? {
            Hold::Mine(held) => {
                self.drive_held(model, tools, cx, thread_now, held, &[])
                    .await
            }
            Hold::Busy(id) => Ok(Outcome::Busy(id)),
        }
    }

    /// Implements [`drive`](Self::drive) for a run whose lease this process has.
    pub(super) async fn drive_held<M: Model + ?Sized>(
        &self,
        model: &mut M,
        tools: impl Fn(&ToolContext) -> Toolset,
        cx: &ToolContext,
        thread_now: Thread<'_>,
        held: Held,
        supplied: &[ClientResult],
    ) -> Result<Outcome, TurnError> {
        let mut thread_now = thread_now.fenced(self.fence(&held));
        if let Some(beginning) = &self.beginning {
            held.during(beginning(held.fence())).await;
        }
        let cx = &held.context(cx);
        let steps = async {
            // An earlier drive may have stored messages between the first read and the beginning of this run.
            thread_now.catch_up().await?;
            let Some(limit) = self.time_limit(&thread_now, &held).await? else {
                let steps = self.steps(model, tools, cx, &mut thread_now, &held, supplied);
                return steps.await;
            };
            let own = &limit.context(cx);
            let steps = self.steps(model, tools, own, &mut thread_now, &held, supplied);
            Ok(limit.outcome(steps.await?, cx))
        };
        let outcome = match held.during(Box::pin(steps)).await {
            // The thread refused a message, because another run has appended a message of the model or taken over. This is the last check for a
            // second run of the thread.
            Err(TurnError::Busy(_)) => Ok(Outcome::Busy(held.id().clone())),
            outcome => outcome,
        };
        match outcome.as_ref().map(Outcome::cause) {
            Ok(Some(cause)) => held.end(cause).await,
            Ok(None) => held.forget(),
            Err(error) => held.end(error.cause()).await,
        }
        outcome
    }

    /// Returns the condition under which a driver writes messages.
    pub(super) fn fence(&self, held: &Held) -> Fence {
        match self.one_database() {
            Some(journal) => Fence::Batch(journal.clone(), held.fence()),
            None => Fence::Read(Arc::clone(&self.runs), held.fence()),
        }
    }

    /// Returns the end of a run to store with its last message, if threads and runs are in one database.
    fn last_of_run(&self, held: &Held, cause: RunCause) -> Option<Last> {
        Some(Last {
            journal: self.one_database()?.clone(),
            run: held.ending(cause),
        })
    }

    /// Returns the transactions of the database, if threads and runs are both in it.
    pub(super) fn one_database(&self) -> Option<&Journal> {
        let journal = self.journal.as_ref()?;
        (self.runs.journal().as_ref() == Some(journal)).then_some(journal)
    }

    /// Returns the outcome of a run that has reached a limit and may send no more requests; `None` if it has reached none. `step` is the number of
    /// its steps, and `pauses` the number of consecutive paused messages.
    fn reached_limit(
        &self,
        held: &Held,
        step: u32,
        pauses: u32,
    ) -> Result<Option<Outcome>, TurnError> {
        if pauses > self.pauses {
            return Err(TurnError::PauseLimit { most: self.pauses });
        }
        if pauses == 0 && step >= self.steps {
            return Ok(Some(Outcome::StepLimit));
        }
        let usage = held.usage();
        let mut is_spent = self.tokens.is_some_and(|most| usage.total_tokens() >= most);
        if let Some(most) = self.cost {
            match usage.cost_micros {
                Some(cost) => is_spent |= cost >= most,
                None if usage.is_measured() => return Err(TurnError::Unpriced),
                None => {}
            }
        }
        Ok(is_spent.then_some(Outcome::Budget))
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one loop decides what follows each message"
    )]
    async fn steps<M: Model + ?Sized>(
        &self,
        model: &mut M,
        tools: impl Fn(&ToolContext) -> Toolset,
        cx: &ToolContext,
        thread: &mut Thread<'_>,
        held: &Held,
        mut supplied: &[ClientResult],
    ) -> Result<Outcome, TurnError> {
        // The run continues where an earlier drive stopped.
        let (mut open, mut step) = match thread.last_of_model()? {
            Some((last, step, unread)) if last.message.calls.is_empty() => {
                if !unread && is_last(&last.message) {
                    return Ok(said(&last.message));
                }
                (None, if unread { 0 } else { step })
            }
            // A new message of the user begins a new run, whose steps are counted from 0.
            Some((last, _, true)) => (Some(last), 0),
            Some((last, step, false)) => (Some(last), step),
            None => (None, 0),
        };
        let mut pauses = thread.pauses()?;
        let mut continues = true;
        let budget = cx.get::<Budget>().ok();
        loop {
            if let Some(message) = open.take().filter(|message| !is_paused(&message.message)) {
                pauses = 0;
                if is_last(&message.message) {
                    return Ok(said(&message.message));
                }
                let tools = tools(cx);
                // The ids of calls may repeat in later messages, so the results are used for the open calls only.
                let supplied = std::mem::take(&mut supplied);
                let run = self.run_in(thread, &tools, &message, cx, (held, continues), supplied);
                match Box::pin(run).await? {
                    Turn::Waiting(tickets) => return Ok(Outcome::Waiting(tickets)),
                    Turn::Client(calls) => return Ok(Outcome::Client(calls)),
                    Turn::Lacking(needs) => return Ok(Outcome::Lacking(needs)),
                    Turn::Unsettled(row) => return Ok(Outcome::Unsettled(row)),
                    Turn::Busy(id) => return Ok(Outcome::Busy(id)),
                    Turn::Deadline => return Ok(Outcome::Deadline),
                    Turn::Draining => return Ok(Outcome::Draining),
                    Turn::Complete(results) => {
                        if let Some(reply) = results.iter().find_map(ToolMessage::reply) {
                            // The text of the tool is stored in place of a text of the model.
                            let said = ModelMessage::text(reply.clone());
                            let read = message.seq;
                            let last = self.last_of_run(held, RunCause::Replied);
                            thread.append_model(said, step + 1, read, last).await?;
                            return Ok(Outcome::Replied(reply));
                        }
                    }
                }
            }
            let tools = tools(cx);
            if let Some(halt) = held.check(cx, &tools).await? {
                return Ok(Outcome::halted(halt, held));
            }
            if let Some(outcome) = self.reached_limit(held, step, pauses)? {
                return Ok(outcome);
            }
            // The continuation of a paused message belongs to the step of that message.
            step += u32::from(pauses == 0);
            let request = ModelRequest {
                messages: thread.messages(),
                tools: &tools,
                step,
                cx,
            };
            let reserved = match reserve(budget.as_ref(), model, &request, thread).await? {
                Ok(reserved) => reserved,
                Err(row) => return Ok(Outcome::SharedBudget(row)),
            };
            let with_budget = reserved
                .as_ref()
                .map(|reserved| cx.derive().with(reserved.clone()).build());
            let request = ModelRequest {
                cx: with_budget.as_ref().unwrap_or(cx),
                ..request
            };
            let read = thread.last();
            let replied = {
                let halted = pin!(held.halted(cx, &tools));
                match select(model.next(request), halted).await {
                    Either::Left((message, _)) => Ok(message),
                    Either::Right((halt, _)) => Err(halt),
                }
            };
            let message = match replied {
                Ok(Ok(message)) => message,
                Ok(Err(error)) => {
                    held.spend(settle(reserved.as_ref(), model, None).await);
                    if let Some(row) = reserved.and_then(|reserved| reserved.refused()) {
                        return Ok(Outcome::SharedBudget(row));
                    }
                    let error = cx.redactor().clean(error).into_inner();
                    return Err(TurnError::Model(error));
                }
                Err(halt) => {
                    let partial = halt.refuses_calls().and_then(|_| model.interrupted());
                    held.spend(partial.as_ref().and_then(|partial| partial.usage));
                    held.spend(settle(reserved.as_ref(), model, partial.as_ref()).await);
                    if let Some(partial) = partial {
                        thread.append_model(partial, step, read, None).await?;
                    }
                    return Ok(Outcome::halted(halt, held));
                }
            };
            // No request was made for a message that an input guardrail has written.
            let was_sent = message.stop != Some(StopReason::Guardrail(GuardrailKind::Input));
            if was_sent {
                held.count(message.usage);
            }
            let response = was_sent.then_some(&message);
            held.spend(settle(reserved.as_ref(), model, response).await);
            let last = if is_last(&message) {
                let cause = said(&message).cause();
                cause.and_then(|cause| self.last_of_run(held, cause))
            } else {
                None
            };
            pauses += u32::from(is_paused(&message));
            open = Some(thread.append_model(message, step, read, last).await?);
            continues = false;
        }
    }
}

/// Reserves the estimate of a request, if the runs share a budget. If the budget has less left than the estimate, returns its row.
async fn reserve<M: Model + ?Sized>(
    budget: Option<&Budget>,
    model: &mut M,
    request: &ModelRequest<'_>,
    thread: &Thread<'_>,
) -> Result<Result<Option<StepBudget>, Box<BudgetRow>>, TurnError> {
    let Some(budget) = budget else {
        return Ok(Ok(None));
    };
    // A repeated step follows the same message of the model.
    let last = thread.last_of_model()?;
    let last = last.map_or(0, |(last, ..)| last.seq);
    let reserved = budget.begin(model, request, &last.to_string()).await?;
    Ok(reserved.map(Some))
}

/// Ends the reservation of a step. Returns the tokens that are in the usage of no message.
async fn settle<M: Model + ?Sized>(
    reserved: Option<&StepBudget>,
    model: &mut M,
    response: Option<&ModelMessage>,
) -> Option<Usage> {
    match reserved {
        Some(reserved) => reserved.settle(model, response).await,
        None => model.unsettled_usage(),
    }
}

/// Returns whether the provider paused the turn and will continue it when the message is sent back unchanged.
pub fn is_paused(message: &ModelMessage) -> bool {
    message.calls.is_empty() && message.stop == Some(StopReason::Paused)
}

/// Returns whether a message ends the run.
pub fn is_last(message: &ModelMessage) -> bool {
    message.calls.is_empty() && !is_paused(message)
}

/// Returns the outcome for a last message of the model.
fn said(message: &ModelMessage) -> Outcome {
    let text = message.text.clone();
    match &message.stop {
        Some(StopReason::Length) => Outcome::Length(text),
        Some(StopReason::Filtered) => Outcome::Filtered(text),
        Some(StopReason::Guardrail(kind)) => Outcome::Guardrail(Tripped { kind: *kind, text }),
        Some(stop) if !stop.is_whole() => Outcome::Cut(text),
        _ if message.truncated => Outcome::Cut(text),
        _ => Outcome::Answered(text),
    }
}
