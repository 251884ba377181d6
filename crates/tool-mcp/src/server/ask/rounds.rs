//! Calls in several rounds: a call asks a question, is parked until the client sends the answer, and then continues.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::FutureExt as _;
use futures::StreamExt as _;
use futures::future::BoxFuture;
use rmcp::ErrorData;
use rmcp::model::{ElicitResult, InputRequests, InputRequiredResult, InputResponses};
use rmcp::service::{RequestContext, RoleServer};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tool_core::__private0::next_identity;
use tool_core::store::CallId;
use tool_core::{
    Asker, CallResult, ErrorKind, Question, ToolCall, ToolContext, ToolError, ToolEvent, Toolset,
};
use tracing::Instrument as _;

use super::approve::{self, decide};
use super::parking::{AnsweredQuestion, Asked, Parking, Sealed, State, StoredAnswer, ToolState};
use super::{Given, given, input_request};
use crate::server::call::{Start, Steps, tell};

/// The key of a question in the maps of requests and responses.
const KEY: &str = "answer";

/// The result of one round.
pub(crate) enum Round {
    /// The call has ended with this result.
    Done(CallResult),
    /// The tool or the gate asks this question.
    Asks(InputRequiredResult),
}

/// A task that is aborted when this handle is dropped.
pub(crate) struct Aborted(pub(crate) JoinHandle<()>);

impl Drop for Aborted {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The questions and answers of a call.
#[derive(Default)]
struct Questions {
    /// Answers from earlier rounds. If the body of the tool runs again, it asks their questions again.
    ahead: VecDeque<AnsweredQuestion>,
    behind: Vec<AnsweredQuestion>,
}

/// Asks the user of a 2026-07-28 client between two requests.
struct RoundsAsker {
    memory: Arc<Mutex<Questions>>,
    questions: mpsc::UnboundedSender<PendingQuestion>,
}

/// A question that waits for its answer.
struct PendingQuestion {
    question: Question,
    answer: oneshot::Sender<Result<Given, ToolError>>,
}

fn lock(memory: &Mutex<Questions>) -> MutexGuard<'_, Questions> {
    memory.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Asker for RoundsAsker {
    fn ask(&self, question: Question) -> BoxFuture<'_, Result<Given, ToolError>> {
        async move {
            let asked = Asked::from(question.clone());
            let known = {
                let mut memory = lock(&self.memory);
                // If the repeated body asks a different question, the remaining answers are discarded.
                match memory.ahead.pop_front() {
                    Some(known) if known.question == asked => {
                        memory.behind.push(known.clone());
                        Some(known.answer)
                    }
                    _ => {
                        memory.ahead.clear();
                        None
                    }
                }
            };
            if let Some(answer) = known {
                return Ok(answer.into());
            }
            let (answer, answered) = oneshot::channel();
            let gone = || {
                ToolError::of(
                    ErrorKind::Cancelled,
                    "the client disconnected before the tool finished",
                )
            };
            let waits = PendingQuestion { question, answer };
            self.questions.send(waits).map_err(|_| gone())?;
            let answer = answered.await.map_err(|_| gone())??;
            let kept = StoredAnswer::from(&answer);
            lock(&self.memory).behind.push(AnsweredQuestion {
                question: asked,
                answer: kept,
            });
            Ok(answer)
        }
        .boxed()
    }
}

/// A call that runs in its own task, whether or not a request waits for it.
pub(crate) struct Run {
    /// The identity of the call, if its context has one. Without it, the client's user cannot approve the call.
    call: Option<CallId>,
    events: mpsc::Receiver<ToolEvent>,
    questions: mpsc::UnboundedReceiver<PendingQuestion>,
    memory: Arc<Mutex<Questions>>,
    _task: Aborted,
}

impl Run {
    fn begin(
        tools: &Toolset,
        start: Start,
        cx: &ToolContext,
        known: Vec<AnsweredQuestion>,
    ) -> Self {
        let memory = Arc::new(Mutex::new(Questions {
            ahead: known.into(),
            behind: Vec::new(),
        }));
        let call = next_identity(cx).cloned();
        let (questions, asked) = mpsc::unbounded_channel();
        let cx = cx.with_asker(Arc::new(RoundsAsker {
            memory: Arc::clone(&memory),
            questions,
        }));
        // The channel has room for one event: a client that reads slowly slows the call down, as `Toolset::stream` documents.
        let (told, events) = mpsc::channel(1);
        let mut stream = start.stream(tools, &cx);
        let task = async move {
            while let Some(event) = stream.next().await {
                if told.send(event).await.is_err() {
                    return;
                }
            }
        };
        Self {
            call,
            events,
            questions: asked,
            memory,
            _task: Aborted(tokio::spawn(task.in_current_span())),
        }
    }
}

/// A `tools/call` request whose tool may ask its user.
pub(crate) struct Asking<'a> {
    pub(crate) parking: &'a Parking,
    pub(crate) tools: &'a Toolset,
    pub(crate) call: ToolCall,
    pub(crate) cx: &'a ToolContext,
    pub(crate) context: &'a RequestContext<RoleServer>,
    /// Whether the client's user may approve calls.
    pub(crate) approves: bool,
}

/// Runs a call until it ends or asks its next question. `state` and `responses` are the values that the client returns from the previous round.
pub(crate) async fn run(
    asking: Asking<'_>,
    state: Option<&str>,
    responses: Option<&InputResponses>,
) -> Result<Round, ErrorData> {
    let sealed = Sealed::of(&asking.call.name, &asking.call.arguments, asking.cx);
    let first = || Start::Call(asking.call.clone());
    let Some(text) = state else {
        let run = Run::begin(asking.tools, first(), asking.cx, Vec::new());
        return asking.drive(run, &sealed).await;
    };
    let state: State = asking.parking.open(text, &sealed)?;
    let answer = responses.and_then(|responses| responses.get(KEY)).cloned();
    let answer = answer.and_then(|answer| serde_json::from_value::<ElicitResult>(answer).ok());
    let answer = answer.map(given).and_then(Result::ok);
    let (state, answer) = match (state, answer) {
        // Without an answer, the same question and the same state are sent again.
        (State::Tool(ToolState { question, .. }) | State::Approval { question, .. }, None) => {
            return asks(&question.question(), text.to_owned());
        }
        (
            State::Approval {
                token,
                call,
                is_nested,
                question,
            },
            Some(answer),
        ) => {
            if !decide(asking.tools, &token, &answer, asking.cx).await {
                return asks(&question.question(), text.to_owned());
            }
            let next = approve::next(asking.call.clone(), token, is_nested);
            let run = Run::begin(asking.tools, next, &asking.cx.for_call(call), Vec::new());
            return asking.drive(run, &sealed).await;
        }
        (State::Tool(state), Some(answer)) => (state, answer),
    };
    if let Some(parked) = asking.parking.take(&state.nonce) {
        // Sending fails if the body no longer waits for this answer. The run then returns its result.
        let _ = parked.answer.send(Ok(answer));
        return asking.drive(parked.run, &sealed).await;
    }
    let hints = asking
        .tools
        .get(&asking.call.name)
        .map(tool_core::ToolDef::hints);
    if !hints.is_some_and(|hints| hints.read_only || hints.idempotent) {
        let error = ToolError::of(
            ErrorKind::Interrupted,
            "the call was lost while it waited for an answer, it may have done part of its work: check before you call again",
        );
        return Ok(Round::Done(CallResult::refused(asking.call, error)));
    }
    let mut known = state.before;
    known.push(AnsweredQuestion {
        question: state.question,
        answer: StoredAnswer::from(&answer),
    });
    let run = Run::begin(asking.tools, first(), asking.cx, known);
    asking.drive(run, &sealed).await
}

fn asks(question: &Question, state: String) -> Result<Round, ErrorData> {
    let request = input_request(question)
        .map_err(|error| ErrorData::internal_error(error.operator_text(), None))?;
    let requests = InputRequests::from([(KEY.to_owned(), request)]);
    Ok(Round::Asks(InputRequiredResult::new(
        Some(requests),
        Some(state),
    )))
}

impl Asking<'_> {
    /// Returns the result, or the question that asks for an approval of the call or of a nested call.
    fn done(&self, run: Run, result: CallResult, sealed: &Sealed) -> Result<Round, ErrorData> {
        let ticket = approve::ticket(&result).filter(|_| self.approves);
        let (Some(ticket), Some(call)) = (ticket, run.call) else {
            return Ok(Round::Done(result));
        };
        let question = approve::question(ticket);
        let state = State::Approval {
            token: ticket.token.clone(),
            call,
            is_nested: ticket.parent.is_some(),
            question: question.clone().into(),
        };
        asks(&question, self.parking.seal(&state, sealed)?)
    }

    /// Drives a run until it ends or asks its next question.
    async fn drive(&self, mut run: Run, sealed: &Sealed) -> Result<Round, ErrorData> {
        let token = self.context.meta.get_progress_token();
        let mut steps = Steps::default();
        loop {
            let waits = tokio::select! {
                biased;
                event = run.events.recv() => match event {
                    Some(ToolEvent::Done(result)) => return self.done(run, result, sealed),
                    Some(ToolEvent::Progress(step)) => {
                        if let Some(token) = &token {
                            tell(&mut steps, &step, token, self.context).await;
                        }
                        continue;
                    }
                    Some(ToolEvent::Started) => continue,
                    None => return Err(ErrorData::internal_error("the call ended without a result", None)),
                },
                Some(waits) = run.questions.recv() => waits,
                // Returning here drops the run, which cancels it.
                () = self.context.ct.cancelled() => {
                    return Err(ErrorData::internal_error("the call was cancelled", None));
                }
            };
            if let Err(error) = input_request(&waits.question) {
                let _ = waits.answer.send(Err(error));
                continue;
            }
            let before = lock(&run.memory).behind.clone();
            match self.parking.park(run, waits.answer) {
                Ok(nonce) => {
                    let question = Asked::from(waits.question.clone());
                    let state = State::Tool(ToolState {
                        nonce,
                        question,
                        before,
                    });
                    return asks(&waits.question, self.parking.seal(&state, sealed)?);
                }
                Err((again, answer)) => {
                    let busy = "too many calls are waiting for answers, call again later";
                    let _ = answer.send(Err(ToolError::of(ErrorKind::RateLimited, busy)));
                    run = again;
                }
            }
        }
    }
}
