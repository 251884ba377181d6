//! Guardrails of an agent: checks of its input, of its output and of its calls, as tower layers.
//!
//! A guardrail that refuses ends the run with [`Outcome::Guardrail`](tool_core::turn::Outcome::Guardrail) and the cause
//! [`RunCause::Guardrail`](tool_core::store::RunCause::Guardrail). The text of the refusal is stored in the thread as the answer, so the run is not
//! retried: the next drive returns the same outcome, and the next message of the user begins a new turn.
//!
//! | guardrail | checks | when | after a refusal |
//! |---|---|---|---|
//! | [`input_guardrail`](AgentBuilder::input_guardrail) | the messages of the thread | before the first request of the agent in a drive, and before each request with a new message of a user | no request is sent, and later requests contain a note in place of the refused messages |
//! | [`output_guardrail`](AgentBuilder::output_guardrail) | each text and each reasoning of the model, and typed outputs | before it is stored, and before it is shown unless [`show_unchecked_output`](AgentBuilder::show_unchecked_output) is set | the message of the model is dropped |
//! | [`call_guardrail`](AgentBuilder::call_guardrail) | each call of the model, except the call of `final_answer` that returns a typed output | before any call of the message is stored or run | the message of the model is dropped with all its calls |
//!
//! In an [`AgentRuntime`](crate::runtime::AgentRuntime), each agent has its own guardrails: the input guardrails of an agent also run after a handoff
//! to it, and sub-agents and prompts have the guardrails of their own agents.
//!
//! A guardrail that panics or returns an error other than a [`Refusal`], also in `poll_ready`, refuses as well (it fails closed). The user then reads
//! a general text, and the log has the error. To let the model read why a single call is refused and continue, use a policy or
//! [`GateBuilder::layer`](tool_core::GateBuilder::layer) in place of a guardrail.
//!
//! The function [`guardrail`] makes a layer from an asynchronous function. Each layer wraps the one that was added before it, so the last one runs
//! first; layers of other crates, such as a timeout, can be added between them.
//!
//! ```
//! use tool_agent::agent::Agent;
//! use tool_agent::agent::guardrails::{InputCheck, OutputCheck, Refusal, guardrail};
//! use tool_agent::model::{Script, ScriptedModel};
//! use tool_core::ToolContext;
//! use tool_core::store::MemoryStore;
//! use tool_core::turn::{Outcome, Turns};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let on_topic = guardrail(|check: InputCheck| async move {
//!     if check.text().contains("lottery") {
//!         return Err(Refusal::new("I can only help with travel.").operator("off topic: lottery").into());
//!     }
//!     Ok(())
//! });
//! let no_prices = guardrail(|check: OutputCheck| async move {
//!     if check.text().contains('€') {
//!         Err(Refusal::new("Please ask the sales team for prices.").into())
//!     } else {
//!         Ok(())
//!     }
//! });
//! let model = ScriptedModel::new([Script::text("It costs 30 €.")]);
//! let agent = Agent::builder("adviser", model).input_guardrail(on_topic).output_guardrail(no_prices).build()?;
//!
//! let turns = Turns::new(MemoryStore::default());
//! let cx = ToolContext::builder().workspace("acme").conversation("main").build();
//! for (question, answer) in [
//!     ("Which lottery tickets are lucky?", "I can only help with travel."),
//!     ("What does the ferry cost?", "Please ask the sales team for prices."),
//! ] {
//!     let Outcome::Guardrail(tripped) = agent.respond(question, &turns, &cx).await? else { unreachable!() };
//!     assert_eq!(tripped.text, answer);
//! }
//! # Ok(())
//! # }
//! ```

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::FutureExt as _;
use tool_core::store::{Message, Role};
use tool_core::turn::{GuardrailKind, ModelMessage, StopReason, UserMessage, is_last};
use tool_core::{ToolCall, ToolContext};
use tool_store::panics::panic_text;
use tower::util::BoxCloneSyncService;
use tower::{BoxError, Layer, Service, ServiceExt as _};

use super::AgentBuilder;
use super::output;

/// The text for the user if a guardrail fails.
const FAILED: &str = "The answer was withheld, because a check of the host failed.";

/// The text for the user if a guardrail refuses without a text.
const REFUSED: &str = "The answer was withheld.";

/// The refusal of a guardrail, with a text for the user and one for the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Refusal {
    text: String,
    operator: Option<String>,
}

impl Refusal {
    /// Creates a refusal with a text for the user. The text is stored as the answer, so the model reads it in later turns. The text must not quote
    /// the refused content.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            operator: None,
        }
    }

    /// Adds a text for the operator, which is logged in place of the text for the user. Secrets of the context are redacted in both texts.
    #[must_use]
    pub fn operator(mut self, text: impl Into<String>) -> Self {
        self.operator = Some(text.into());
        self
    }
}

/// The request to an input guardrail.
#[derive(Clone, Debug)]
pub struct InputCheck {
    messages: Arc<[Message]>,
    cx: ToolContext,
}

impl InputCheck {
    /// Returns the messages of the thread that the model would read, without the instructions of the agent.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Returns the texts of the messages of users since the last answer, each on separate lines. Each file is replaced by its media type; use
    /// [`messages`](Self::messages) to check the contents of files.
    pub fn text(&self) -> String {
        let begin = begin_of_turn(&self.messages, self.messages.len());
        let users = self.messages[begin..]
            .iter()
            .filter(|message| message.role == Role::User);
        let texts = users.map(|message| {
            let message = serde_json::from_str::<UserMessage>(&message.content);
            message.map_or_else(|_| String::new(), |message| message.to_text())
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the context of the run.
    pub fn context(&self) -> &ToolContext {
        &self.cx
    }
}

/// The request to an output guardrail.
#[derive(Clone, Debug)]
pub struct OutputCheck {
    message: Arc<ModelMessage>,
    typed: bool,
    cx: ToolContext,
}

impl OutputCheck {
    /// Returns the text of the message. For a typed output ([`Agent::run`](super::Agent::run)) of the mode [`Tool`](super::OutputMode::Tool), the
    /// arguments of `final_answer` are added on a separate line.
    pub fn text(&self) -> String {
        let outputs = self.message.calls.iter().filter(|_| self.typed);
        let outputs = outputs
            .filter(|call| call.name == output::NAME)
            .map(|call| &*call.arguments);
        let text = Some(&*self.message.text).filter(|text| !text.is_empty());
        text.into_iter()
            .chain(outputs)
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// Returns the message of the model, with its reasoning and its calls.
    pub fn message(&self) -> &ModelMessage {
        &self.message
    }

    /// Returns the context of the run.
    pub fn context(&self) -> &ToolContext {
        &self.cx
    }
}

/// The request to a call guardrail.
#[derive(Clone, Debug)]
pub struct CallCheck {
    call: ToolCall,
    cx: ToolContext,
}

impl CallCheck {
    /// Returns the call, as the model wrote it. Its arguments may be invalid.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// Returns the context of the run.
    pub fn context(&self) -> &ToolContext {
        &self.cx
    }
}

/// The guardrails of one kind, as a service; the innermost service accepts every request.
pub struct Checks<R>(Option<BoxCloneSyncService<R, (), BoxError>>);

impl<R: Send + 'static> Checks<R> {
    pub(super) const fn none() -> Self {
        Self(None)
    }

    /// Wraps the guardrails in a layer.
    pub(super) fn wrapped<L>(self, layer: L) -> Self
    where
        L: Layer<Self>,
        L::Service: Service<R, Response = (), Error = BoxError> + Clone + Send + Sync + 'static,
        <L::Service as Service<R>>::Future: Send + 'static,
    {
        Self(Some(BoxCloneSyncService::new(layer.layer(self))))
    }

    /// Returns whether there are no guardrails.
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Runs the guardrails. Returns the texts of the refusal for the user and for the operator.
    async fn run(&self, request: R) -> Result<(), (String, String)> {
        let Some(service) = &self.0 else {
            return Ok(());
        };
        // All code of the host runs inside this block, including `clone` and `poll_ready`, so that its panics
        // are caught.
        let run = async { service.clone().oneshot(request).await };
        let error = match AssertUnwindSafe(run).catch_unwind().await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(error)) => error,
            Err(payload) => {
                let why = format!("a guardrail panicked: {}", panic_text(&*payload));
                return Err((FAILED.to_owned(), why));
            }
        };
        Err(match error.downcast::<Refusal>() {
            Ok(refusal) => {
                let Refusal { text, operator } = *refusal;
                let text = if text.trim().is_empty() {
                    REFUSED.to_owned()
                } else {
                    text
                };
                let operator = operator.unwrap_or_else(|| text.clone());
                (text, operator)
            }
            Err(error) => (FAILED.to_owned(), format!("a guardrail failed: {error}")),
        })
    }
}

impl<R> Clone for Checks<R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<R: Send + 'static> Service<R> for Checks<R> {
    type Response = ();
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0
            .as_mut()
            .map_or(Poll::Ready(Ok(())), |inner| inner.poll_ready(cx))
    }

    fn call(&mut self, request: R) -> Self::Future {
        match &mut self.0 {
            Some(inner) => inner.call(request),
            None => Box::pin(std::future::ready(Ok(()))),
        }
    }
}

impl<R> fmt::Debug for Checks<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Checks")
    }
}

/// Creates a guardrail from an asynchronous function, which accepts a request with `Ok(())` and refuses it with a [`Refusal`]. Any other error
/// refuses as well, with a general text for the user. The [module](self) has an example.
pub fn guardrail<F>(check: F) -> Guardrail<F> {
    Guardrail(check)
}

/// A tower layer that runs a function; created by [`guardrail`].
#[derive(Clone)]
pub struct Guardrail<F>(F);

/// The service of a [`Guardrail`].
#[derive(Clone)]
pub struct GuardrailService<F, S> {
    check: F,
    inner: S,
}

impl<F: Clone, S> Layer<S> for Guardrail<F> {
    type Service = GuardrailService<F, S>;

    fn layer(&self, inner: S) -> Self::Service {
        GuardrailService {
            check: self.0.clone(),
            inner,
        }
    }
}

impl<R, F, C, S> Service<R> for GuardrailService<F, S>
where
    R: Clone + Send + 'static,
    F: Fn(R) -> C,
    C: Future<Output = Result<(), BoxError>> + Send + 'static,
    S: Service<R, Response = (), Error = BoxError> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = ();
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<(), BoxError>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> Self::Future {
        // Only the inner service whose `poll_ready` was called may be called, so the future takes it, and the clone replaces it.
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let checked = (self.check)(request.clone());
        Box::pin(async move {
            checked.await?;
            inner.call(request).await
        })
    }
}

impl<F> fmt::Debug for Guardrail<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Guardrail")
    }
}

impl<F, S> fmt::Debug for GuardrailService<F, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GuardrailService")
    }
}

/// The guardrails of an agent.
#[derive(Clone)]
pub(super) struct Guardrails {
    pub(super) input: Checks<InputCheck>,
    pub(super) output: Checks<OutputCheck>,
    pub(super) call: Checks<CallCheck>,
    /// Whether pieces of the output are shown before they are checked.
    pub(super) shows_unchecked: bool,
}

impl Guardrails {
    pub(super) const fn none() -> Self {
        Self {
            input: Checks::none(),
            output: Checks::none(),
            call: Checks::none(),
            shows_unchecked: false,
        }
    }

    /// Checks the messages of a thread. Returns the message that ends the run if a guardrail refuses.
    pub(super) async fn check_input(
        &self,
        messages: &[Message],
        cx: &ToolContext,
    ) -> Option<ModelMessage> {
        let check = InputCheck {
            messages: messages.into(),
            cx: cx.clone(),
        };
        let refusal = self.input.run(check).await.err()?;
        Some(ending(GuardrailKind::Input, refusal, cx))
    }

    /// Runs the output guardrails and then the call guardrails on a message of the model. Returns the message that ends the run if a guardrail
    /// refuses. `typed` is whether the model returns a typed output with the tool `final_answer`.
    pub(super) async fn check_message(
        &self,
        message: &ModelMessage,
        typed: bool,
        cx: &ToolContext,
    ) -> Option<ModelMessage> {
        let is_output = |call: &&ToolCall| typed && call.name == output::NAME;
        let has_output = message.calls.iter().any(|call| is_output(&call));
        let has_text = !message.text.is_empty() || !message.reasoning.is_empty();
        if !self.output.is_empty() && (has_text || has_output) {
            let check = OutputCheck {
                message: Arc::new(message.clone()),
                typed,
                cx: cx.clone(),
            };
            if let Err(refusal) = self.output.run(check).await {
                return Some(ending(GuardrailKind::Output, refusal, cx));
            }
        }
        if !self.call.is_empty() {
            for call in message.calls.iter().filter(|call| !is_output(call)) {
                let check = CallCheck {
                    call: call.clone(),
                    cx: cx.clone(),
                };
                if let Err(refusal) = self.call.run(check).await {
                    return Some(ending(GuardrailKind::Call, refusal, cx));
                }
            }
        }
        None
    }
}

/// Logs a refusal, and returns the message that ends the run.
fn ending(kind: GuardrailKind, refusal: (String, String), cx: &ToolContext) -> ModelMessage {
    let (text, operator) = refusal;
    let (text, why) = (cx.redact(&text), cx.redact(&operator));
    tracing::warn!(
        guardrail = kind.as_str(),
        agent = cx.agent(),
        conversation = cx.conversation(),
        why = &*why,
        "a guardrail ended a run"
    );
    ModelMessage {
        stop: Some(StopReason::Guardrail(kind)),
        ..ModelMessage::text(text)
    }
}

/// Returns the index of the first message after the last answer before `end`.
fn begin_of_turn(messages: &[Message], end: usize) -> usize {
    let is_answer = |message: &Message| {
        message.role == Role::Assistant
            && serde_json::from_str::<ModelMessage>(&message.content)
                .is_ok_and(|said| is_last(&said))
    };
    let last = messages[..end].iter().rposition(is_answer);
    last.map_or(0, |at| at + 1)
}

/// Returns the sequence numbers of the messages of users that an input guardrail has refused.
pub(super) fn refused_input(messages: &[Message]) -> Vec<u64> {
    // JSON escapes quotes inside strings, so only the field itself matches, and no text that quotes it.
    const REFUSED: &str = r#""stop":"input_guardrail""#;
    let is_refusal = |(_, message): &(usize, &Message)| {
        message.role == Role::Assistant && message.content.contains(REFUSED)
    };
    let refusals = messages.iter().enumerate().filter(is_refusal);
    let refused = refusals.flat_map(|(at, _)| &messages[begin_of_turn(messages, at)..at]);
    let users = refused.filter(|message| message.role == Role::User);
    users.map(|message| message.seq).collect()
}

impl AgentBuilder {
    /// Wraps the input guardrails in a tower layer, which checks the messages of the thread before the first request of the agent in each drive, and
    /// before each request with a new message of a user. No request is made before all input guardrails have accepted. The layer that is added last
    /// is the outermost. The module [`guardrails`](self) describes refusals.
    pub fn input_guardrail<L>(mut self, layer: L) -> Self
    where
        L: Layer<Checks<InputCheck>>,
        L::Service:
            Service<InputCheck, Response = (), Error = BoxError> + Clone + Send + Sync + 'static,
        <L::Service as Service<InputCheck>>::Future: Send + 'static,
    {
        self.0.guardrails.input = self.0.guardrails.input.wrapped(layer);
        self
    }

    /// Wraps the output guardrails in a tower layer, which checks each text, each reasoning and each typed output of the model before it is stored.
    /// The pieces of a message are buffered until the guardrails accept the message: neither the observer of the model nor a
    /// [`ModelObserver`](crate::model::ModelObserver) receives them earlier, unless [`show_unchecked_output`](Self::show_unchecked_output) is set. A
    /// text that was not complete when the run was stopped is not stored. The layer that is added last is the outermost.
    ///
    /// Texts of tools that answer in place of the model are not checked. A [`Model`](tool_core::turn::Model) of the host that passes pieces to users
    /// itself must also buffer them itself.
    pub fn output_guardrail<L>(mut self, layer: L) -> Self
    where
        L: Layer<Checks<OutputCheck>>,
        L::Service:
            Service<OutputCheck, Response = (), Error = BoxError> + Clone + Send + Sync + 'static,
        <L::Service as Service<OutputCheck>>::Future: Send + 'static,
    {
        self.0.guardrails.output = self.0.guardrails.output.wrapped(layer);
        self
    }

    /// Wraps the call guardrails in a tower layer, which checks each call of a message before the message is stored. If one call is refused, no call
    /// of the message runs. The output guardrails, not the call guardrails, check the call of `final_answer` that returns a typed output. Calls that
    /// were stored before the guardrail was added are not checked. The layer that is added last is the outermost.
    pub fn call_guardrail<L>(mut self, layer: L) -> Self
    where
        L: Layer<Checks<CallCheck>>,
        L::Service:
            Service<CallCheck, Response = (), Error = BoxError> + Clone + Send + Sync + 'static,
        <L::Service as Service<CallCheck>>::Future: Send + 'static,
    {
        self.0.guardrails.call = self.0.guardrails.call.wrapped(layer);
        self
    }

    /// Shows each piece of a message when the model writes it, before the output guardrails have checked the message. If a guardrail refuses, the
    /// pieces are withdrawn with [`ModelEvent::StepRestarted`](crate::model::ModelEvent::StepRestarted).
    pub fn show_unchecked_output(mut self) -> Self {
        self.0.guardrails.shows_unchecked = true;
        self
    }
}
