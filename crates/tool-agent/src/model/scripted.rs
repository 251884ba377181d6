//! A model that returns messages that are written in advance.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use futures::future::{BoxFuture, FutureExt as _, ready};
use tool_core::turn::{Model, ModelMessage, ModelRequest};
use tool_core::{ToolCall, ToolError};
use tool_wire::Delta;

use super::event::{ModelEvent, Observer, Observers};
use super::exchange::deltas;

type Write = dyn Fn(&ModelRequest<'_>) -> Result<ModelMessage, ToolError> + Send + Sync;

/// The name of a scripted model in events.
const NAME: &str = "scripted";

/// A model that returns messages that are written in advance, one for each request, for tests and for demonstrations without a network.
///
/// A request after the last message fails. A clone has its own copy of the remaining messages, so each run of an [`Agent`](crate::agent::Agent)
/// begins with the first message.
///
/// ```
/// use tool_agent::model::{Script, ScriptedModel};
/// use tool_core::store::MemoryStore;
/// use tool_core::turn::{Outcome, Turns};
/// use tool_core::{ToolCall, ToolContext, tool, toolset};
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(
///     /// The first number.
///     a: i32,
///     /// The second number.
///     b: i32,
/// ) -> i64 {
///     i64::from(a) + i64::from(b)
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), tool_core::turn::TurnError> {
/// let mut model = ScriptedModel::new([
///     Script::calls([ToolCall::new("c-1", "add", r#"{"a":1,"b":2}"#)]),
///     Script::text("The sum is 3."),
/// ]);
/// let turns = Turns::new(MemoryStore::default());
/// let cx = ToolContext::builder().workspace("acme").conversation("main").build();
/// turns.say("What is 1 + 2?", &cx).await?;
/// let outcome = turns.drive(&mut model, |_| toolset![add], &cx).await?;
/// assert!(matches!(outcome, Outcome::Answered(text) if text == "The sum is 3."));
/// assert_eq!(model.remaining(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[doc(alias("mock", "fake model", "test model"))]
pub struct ScriptedModel {
    steps: VecDeque<Script>,
    /// The number of requests so far.
    requests: u32,
    observer: Option<Arc<Observer>>,
}

/// The reply of a [`ScriptedModel`] to one request.
#[derive(Clone)]
pub struct Script(Arc<Write>);

impl Script {
    /// Creates a script that replies with a message.
    pub fn message(message: ModelMessage) -> Self {
        Self::with(move |_| Ok(message.clone()))
    }

    /// Creates a script that replies with a text and no calls.
    pub fn text(text: impl Into<String>) -> Self {
        Self::message(ModelMessage::text(text))
    }

    /// Creates a script that replies with calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::message(ModelMessage::calls(calls))
    }

    /// Creates a script that replies with the message, or the error, that a function returns for the request.
    pub fn with(
        write: impl Fn(&ModelRequest<'_>) -> Result<ModelMessage, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(write))
    }

    /// Returns the reply to a request, for a script that wraps a different script.
    pub fn reply(&self, request: &ModelRequest<'_>) -> Result<ModelMessage, ToolError> {
        (self.0)(request)
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script(…)")
    }
}

impl ScriptedModel {
    /// Creates a model that replies with these messages, in order.
    pub fn new(steps: impl IntoIterator<Item = Script>) -> Self {
        Self {
            steps: steps.into_iter().collect(),
            requests: 0,
            observer: None,
        }
    }

    /// Calls `observer` with the events of each request, as [`HttpModel::observe`](super::HttpModel::observe) does. Each word of a text is
    /// one event. A script that returns an error emits no events.
    #[must_use]
    pub fn observe(mut self, observer: impl Fn(&ModelEvent<'_>) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Returns the number of remaining messages.
    pub fn remaining(&self) -> usize {
        self.steps.len()
    }

    fn reply(&mut self, request: &ModelRequest<'_>) -> Result<ModelMessage, ToolError> {
        self.requests += 1;
        let Some(script) = self.steps.pop_front() else {
            return Err(ToolError::new(format!(
                "the scripted model has no reply for request {}: add a `Script`",
                self.requests
            )));
        };
        let message = script.reply(request)?;
        let observers = Observers::new(self.observer.as_ref(), request.cx);
        if !observers.is_empty() {
            show(&observers, &message);
        }
        Ok(message)
    }
}

/// Emits the events of a message.
fn show(observers: &Observers, message: &ModelMessage) {
    observers.emit(&ModelEvent::Request {
        model: NAME,
        attempt: 1,
    });
    for delta in deltas(message) {
        // Each word of a text is a piece.
        let pieces = match delta {
            Delta::Text(text) => text
                .split_inclusive(' ')
                .map(|word| Delta::Text(word.to_owned()))
                .collect(),
            delta => vec![delta],
        };
        for piece in &pieces {
            observers.emit(&ModelEvent::Delta(piece));
        }
    }
}

impl Model for ScriptedModel {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        ready(self.reply(&request)).boxed()
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScriptedModel")
            .field("remaining", &self.steps.len())
            .finish_non_exhaustive()
    }
}
