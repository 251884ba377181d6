//! A model of a provider, over HTTP.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use tokio::time::sleep;
use tool_core::limits::SharedLimitGuard;
use tool_core::store::Usage;
use tool_core::turn::{Model, ModelMessage, ModelRequest, StepBudget};
use tool_core::{ErrorKind, ToolError};
use tool_wire::{Delta, ModelReply, ReplyStream};

use super::body::{self, Written};
use super::config::{HttpModelBuilder, Target};
use super::endpoint::Endpoint;
use super::error::{FailedModel, ModelError, ModelErrorKind};
use super::event::{ModelEvent, Observer, Observers};
use super::exchange::{Failure, exchange};
use super::price::ModelPrice;
use super::recording::{Recording, RecordingError};
use super::retry::{Restart, Retry};

/// A model of a provider, over HTTP: the [`Model`] that [`Turns::drive`](tool_core::turn::Turns::drive) asks.
///
/// A request contains the thread and the tools of the step. The reply is streamed, its pieces are passed to [`observe`](Self::observe), and the
/// arguments of calls remain the text that the model wrote. Failed requests are retried as [`Retry`] describes. A failed attempt stores nothing and
/// runs no call. Its tokens are not part of the usage of a message: `Turns` adds them to the usage of the run, and a host with its own loop reads
/// them with [`Model::unsettled_usage`] after each request. If the run is stopped, the connection is closed. If the run was cancelled or interrupted
/// by a new message of the user, the text that was passed on is stored as a truncated message without calls.
///
/// With [`or`](Self::or), models form a fallback chain: if a model cannot answer, the request is sent to the next one.
///
/// A clone shares the connections, the recording, the observer and the waits that providers requested, and has its own state. Use one clone for each
/// concurrent run.
///
/// Connections verify TLS with the certificates of the operating system, and use the proxies that environment variables such as `HTTPS_PROXY` and
/// `NO_PROXY` set, except for addresses of this machine. Redirects are not followed.
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tool_agent::model::{ApiKey, Endpoint, HttpModel, ModelEvent};
/// use tool_wire::Delta;
///
/// let fallback = HttpModel::builder(Endpoint::openai(ApiKey::new("…")), "gpt-5").build()?;
/// let shown = Arc::new(Mutex::new(String::new()));
/// let screen = Arc::clone(&shown);
/// let model = HttpModel::builder(Endpoint::anthropic(ApiKey::new("…")), "claude-sonnet-4-5")
///     .build()?
///     .or(fallback)
///     .observe(move |event| {
///         let mut shown = screen.lock().unwrap();
///         match event {
///             ModelEvent::Delta(Delta::Text(text)) => shown.push_str(text),
///             ModelEvent::StepRestarted => shown.clear(),
///             _ => {}
///         }
///     });
/// # Ok::<(), tool_agent::model::ConfigError>(())
/// ```
#[derive(Clone)]
#[doc(alias("client", "LLM", "OpenAI", "Anthropic", "Gemini", "fallback"))]
pub struct HttpModel {
    first: Arc<Target>,
    /// The models after the first one, in order.
    others: Vec<Arc<Target>>,
    retry: Arc<Retry>,
    recording: Option<Arc<Recording>>,
    observer: Option<Arc<Observer>>,
    state: State,
}

/// The state of the current request.
#[derive(Default)]
struct State {
    /// The reply while it is read.
    partial: Option<ReplyStream>,
    /// Whether pieces of the reply were passed to the observer.
    shown: bool,
    /// The tokens of failed attempts that no message contains.
    spent: Option<Usage>,
    /// The number of attempts in the step, over all models of the chain.
    requests: u32,
    /// The number of failed attempts that reported no tokens and may have used some.
    unmeasured: u32,
    /// Whether an attempt is in progress: its reply is neither complete nor failed.
    in_flight: bool,
    /// The price of the model that gets the current request.
    price: Option<ModelPrice>,
    /// Why the last request failed.
    error: Option<ModelError>,
    observers: Observers,
}

impl State {
    /// Adds the cost to a usage of the current model.
    fn priced(&self, usage: Usage) -> Usage {
        ModelPrice::priced(self.price.as_ref(), usage)
    }
}

impl Clone for State {
    /// Returns the state of a model that has not been asked.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl HttpModel {
    /// Configures a model. `model` is the provider's name for the model. A name for Gemini that contains a `/`, such as `tunedModels/my-model`, is
    /// used as the path after the base URL.
    pub fn builder(endpoint: Endpoint, model: impl Into<String>) -> HttpModelBuilder {
        HttpModelBuilder::new(endpoint, model.into())
    }

    pub(super) fn new(target: Arc<Target>, retry: Retry) -> Self {
        Self {
            first: target,
            others: Vec::new(),
            retry: Arc::new(retry),
            recording: None,
            observer: None,
            state: State::default(),
        }
    }

    /// Adds the models of `next` to the end of the chain. The request is sent to the next model if the error allows it
    /// ([`ModelErrorKind::allows_fallback`]). A transient failure, such as an overloaded provider, a timeout or a broken stream, is retried first. An
    /// exhausted quota, refused credentials, a missing permission and an unknown model are not retried. After any other error, the request is not
    /// sent to the next model, for example if the request is invalid, too long, or refused by a filter. If [`Restart::Refuse`] is set and a piece of
    /// a reply was passed on, the request is not sent to the next model after any error.
    ///
    /// The [`Retry`], the recording and the observer of `self` apply to the whole chain. Each model keeps its own timeouts. All clones share the
    /// waits that providers request: a model is skipped until its wait has ended. The last model of the chain is not skipped: its request is sent
    /// after the wait, if the wait is within the budget and the deadline.
    #[must_use]
    pub fn or(mut self, next: Self) -> Self {
        self.others.push(next.first);
        self.others.extend(next.others);
        self
    }

    /// Calls `observer` with each event of each request. The task of the run calls it, so it must not block. A model that is skipped because of a
    /// wait emits no events, and no event follows after a run was stopped. A second call of `observe` replaces the observer.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&ModelEvent<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Writes requests and their responses to a file, for [`replay`](Self::replay). An existing file is replaced.
    ///
    /// The file has one JSON object in each line. It contains the conversation, but no headers of requests, and no host or query of a URL. If the
    /// server repeats the key, the key is redacted; a key of fewer than 6 bytes cannot be redacted. A request without a response, because the
    /// connection failed or the run was stopped, is not recorded, and neither is a refusal of credentials after which the request was sent again.
    /// Writing blocks the task of the run, so record in tests and not in production.
    pub fn record(mut self, path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        self.recording = Some(Arc::new(Recording::record(path.as_ref())?));
        Ok(self)
    }

    /// Takes the responses from a file that [`record`](Self::record) has written, and sends nothing. A request that was not recorded fails with
    /// [`ModelErrorKind::NotRecorded`], and the message states the first place at which it differs from the next recorded request.
    ///
    /// All clones of the model share the file, and a request gets the first response that was recorded for an equal request and not replayed yet. The
    /// name of the model, the parameters and the path of the base URL must be the same as in the recording; the host and the key may differ. The
    /// waits between attempts are real: set a short [`Retry::first_wait`] in tests.
    pub fn replay(mut self, path: impl AsRef<Path>) -> Result<Self, RecordingError> {
        self.recording = Some(Arc::new(Recording::replay(path.as_ref())?));
        Ok(self)
    }

    /// Returns why the last step of this model failed; `None` if it succeeded or was stopped, and before the first step. A clone does not have the
    /// error of the original. An [`Agent`](crate::agent::Agent) runs clones, so read its errors from [`ModelEvent::Failed`] with
    /// [`observe`](Self::observe).
    pub fn error(&self) -> Option<&ModelError> {
        self.state.error.as_ref()
    }

    fn emit(&self, event: &ModelEvent<'_>) {
        self.state.observers.emit(event);
    }

    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<ModelMessage, Box<ModelError>> {
        self.state.observers = Observers::new(self.observer.as_ref(), request.cx);
        let mut budget = self.retry.budget;
        let mut earlier: Vec<FailedModel> = Vec::new();
        let mut resumes_after: Option<Duration> = None;
        let mut others = self.others.clone().into_iter().peekable();
        let mut target = Arc::clone(&self.first);
        loop {
            let is_last = others.peek().is_none();
            let asked = self.ask_one(&target, &request, &mut budget, is_last);
            let GivenUp { error, next, rests } = match asked.await {
                Ok(reply) => {
                    let mut message = reply.into_message();
                    message.usage = message.usage.map(|usage| self.state.priced(usage));
                    return Ok(message);
                }
                Err(given_up) => given_up,
            };
            let wait = error.retry_after.filter(|_| rests);
            resumes_after = resumes_after.into_iter().chain(wait).min();
            match others.next() {
                Some(other) if next => {
                    earlier.push((*error).into());
                    target = other;
                }
                _ => {
                    return Err(Box::new(ModelError {
                        usage: self.state.spent,
                        // A retry of an invalid request would fail again, so the run is not suspended.
                        resumes_after: resumes_after.filter(|_| next),
                        earlier,
                        ..*error
                    }));
                }
            }
        }
    }

    /// Sends the request to one model until it succeeds or no retry is left.
    async fn ask_one(
        &mut self,
        target: &Target,
        request: &ModelRequest<'_>,
        budget: &mut Duration,
        is_last: bool,
    ) -> Result<ModelReply, GivenUp> {
        let fits = |wait, budget| fits(request, wait, budget);
        if let Some(wait) = target.wait() {
            // In an earlier response, the provider requested a wait, so no request is sent before its end.
            let rests = !fits(wait, *budget);
            if !is_last || rests {
                return Err(GivenUp::resting(target, wait, rests));
            }
            sleep(wait).await;
            *budget = budget.saturating_sub(wait);
        }
        self.state.price = target.price;
        let written = body::write(target, request).map_err(GivenUp::faulty)?;
        let mut attempt = 1;
        loop {
            if self.state.requests > 0
                && let Ok(step) = request.cx.get::<StepBudget>()
                && let Err(refused) = step.again(self.state.spent, self.state.unmeasured).await
            {
                let kind = match refused.kind() {
                    ErrorKind::Denied => ModelErrorKind::OverBudget,
                    _ => ModelErrorKind::BudgetUnavailable,
                };
                let why = refused.operator_text();
                return Err(GivenUp::faulty(ModelError::new(kind, &target.model, why)));
            }
            let permit = permit(target, request, budget, is_last).await?;
            self.state.requests += 1;
            self.emit(&ModelEvent::Request {
                model: &target.model,
                attempt,
            });
            let Failure {
                mut error,
                transient,
            } = match self.attempt(target, &written).await {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            // The permit is not held during the wait before the next attempt.
            drop(permit);
            error.attempts = attempt;
            error.usage = error.usage.map(|usage| self.state.priced(usage));
            self.state.unmeasured +=
                u32::from(error.usage.is_none() && error.kind.may_use_tokens());
            if let Some(usage) = error.usage {
                *self.state.spent.get_or_insert_default() += usage;
            }
            if let Some(wait) = error.retry_after {
                target.rest(wait);
            }
            let refused = self.state.shown && self.retry.restart == Restart::Refuse;
            if std::mem::take(&mut self.state.shown) && !refused {
                self.emit(&ModelEvent::StepRestarted);
            }
            let mut wait = self.retry.wait(attempt + 1, error.retry_after);
            if let Some(asked) = error
                .retry_after
                .filter(|asked| !fits(wait, *budget) && fits(*asked, *budget))
            {
                // The requested wait is within the limits. Only the sum with the jitter exceeds them.
                wait = asked;
            }
            let again =
                transient && !refused && attempt < self.retry.attempts && fits(wait, *budget);
            self.emit(&ModelEvent::Failed {
                error: &error,
                retry_in: again.then_some(wait),
            });
            if !again {
                let next = error.kind.allows_fallback() && !refused;
                // If the wait is within the limits, the retries ended for a different reason, such as the maximum number of attempts.
                let asked = error.retry_after;
                let rests = transient && asked.is_some_and(|asked| !fits(asked, *budget));
                return Err(GivenUp { error, next, rests });
            }
            sleep(wait).await;
            *budget = budget.saturating_sub(wait);
            attempt += 1;
        }
    }

    /// Sends one request and reads its reply.
    async fn attempt(&mut self, target: &Target, written: &Written) -> Result<ModelReply, Failure> {
        let State {
            partial,
            shown,
            observers,
            in_flight,
            ..
        } = &mut self.state;
        let mut kept = Vec::new();
        let holds = self.retry.restart == Restart::Hold || observers.hold();
        let mut each = |delta: Delta| {
            if holds {
                kept.push(delta);
            } else {
                *shown = true;
                observers.emit(&ModelEvent::Delta(&delta));
            }
        };
        let recording = self.recording.as_deref();
        *in_flight = true;
        let reply = exchange(target, recording, written, partial, &mut each).await;
        *in_flight = false;
        let reply = reply?;
        for delta in &kept {
            observers.emit(&ModelEvent::Delta(delta));
        }
        Ok(reply)
    }
}

/// Counts a request towards the limits that are shared with other processes. If a limit is exhausted, the last model of the chain waits for it,
/// unless the wait exceeds the budget of the step or the deadline.
async fn permit(
    target: &Target,
    request: &ModelRequest<'_>,
    budget: &mut Duration,
    is_last: bool,
) -> Result<Option<SharedLimitGuard>, GivenUp> {
    let Some(limits) = &target.limits else {
        return Ok(None);
    };
    loop {
        let error = match limits.enter_as(request.cx, &target.model).await {
            Ok(permit) => return Ok(Some(permit)),
            Err(error) => error,
        };
        let why = error.operator_text();
        let Some(wait) = error.wait() else {
            let kind = ModelErrorKind::LimitsUnavailable;
            return Err(GivenUp::faulty(ModelError::new(kind, &target.model, why)));
        };
        let rests = !fits(request, wait, *budget);
        if !is_last || rests {
            return Err(GivenUp::limited(target, wait, rests, &why));
        }
        sleep(wait).await;
        *budget = budget.saturating_sub(wait);
    }
}

/// Returns whether a wait is within the budget of a step and the deadline of its context.
fn fits(request: &ModelRequest<'_>, wait: Duration, budget: Duration) -> bool {
    let remaining = request.cx.remaining();
    wait <= budget && remaining.is_none_or(|remaining| wait < remaining)
}

/// The last failure of one model.
struct GivenUp {
    error: Box<ModelError>,
    /// Whether the request may be sent to the next model of the chain.
    next: bool,
    /// Whether the model must not be asked before the end of a wait that exceeds the budget or the deadline.
    rests: bool,
}

impl GivenUp {
    /// Returns the failure of a model that gets no request, because its provider requested a wait.
    fn resting(target: &Target, wait: Duration, rests: bool) -> Self {
        let why =
            "no request was sent, because the wait that the provider asked for earlier is not over";
        Self::limited(target, wait, rests, why)
    }

    /// Returns the failure of a model that gets no request before the end of a wait.
    fn limited(target: &Target, wait: Duration, rests: bool, why: &str) -> Self {
        let mut error = ModelError::new(ModelErrorKind::RateLimited, &target.model, why);
        error.retry_after = Some(wait);
        Self {
            error,
            next: true,
            rests,
        }
    }

    /// Returns a failure after which the request is not sent to any model, for example because it cannot be written.
    fn faulty(error: Box<ModelError>) -> Self {
        Self {
            error,
            next: false,
            rests: false,
        }
    }
}

impl Model for HttpModel {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        async move {
            self.state = State::default();
            self.ask(request).await.map_err(|error| {
                let text = error.to_tool_error();
                self.state.error = Some(*error);
                text
            })
        }
        .boxed()
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        if !std::mem::take(&mut self.state.shown) {
            return None;
        }
        let partial = self.state.partial.take()?;
        self.state.in_flight = false;
        let usage = partial.usage().map(|usage| self.state.priced(usage));
        let mut message = partial.finish().ok().map(ModelReply::into_message)?;
        message.usage = message.usage.map(|usage| self.state.priced(usage));
        // Providers refuse incomplete opaque parts, such as signatures.
        message.written = None;
        message.calls.clear();
        message.truncated = true;
        if message.text.is_empty() {
            self.state.unmeasured += u32::from(usage.is_none());
            *self.state.spent.get_or_insert_default() += usage.unwrap_or_default();
            return None;
        }
        Some(message)
    }

    fn unmeasured_requests(&mut self) -> u32 {
        let stopped = std::mem::take(&mut self.state.in_flight);
        std::mem::take(&mut self.state.unmeasured).saturating_add(u32::from(stopped))
    }

    fn estimate(&mut self, request: &ModelRequest<'_>, output: u64) -> Usage {
        let mut usage = Usage {
            input_tokens: request.estimated_tokens(),
            ..Usage::default()
        };
        let chain = || std::iter::once(&self.first).chain(&self.others);
        let limits = chain().map(|target| target.max_tokens().unwrap_or(output));
        usage.output_tokens = limits.max().unwrap_or(output);
        // Any model of the chain may answer, so the largest cost is reserved. If the price of one model is
        // missing, no cost is reserved.
        let costs = chain().map(|target| Some(target.price.as_ref()?.most_cost(&usage)));
        usage.cost_micros = costs
            .collect::<Option<Vec<_>>>()
            .and_then(|costs| costs.into_iter().max());
        usage
    }

    fn unsettled_usage(&mut self) -> Option<Usage> {
        let partial = self
            .state
            .partial
            .take()
            .and_then(|partial| partial.usage())
            .map(|usage| self.state.priced(usage));
        let mut spent = self.state.spent.take();
        if let Some(partial) = partial {
            self.state.in_flight = false;
            *spent.get_or_insert_default() += partial;
        }
        spent
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let others = self.others.iter().map(|target| &target.model);
        let chain: Vec<&String> = std::iter::once(&self.first.model).chain(others).collect();
        f.debug_struct("HttpModel")
            .field("chain", &chain)
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}
