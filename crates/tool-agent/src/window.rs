//! Context windows: requests that are shortened to a number of tokens.
//!
//! A thread grows with every message, and a provider refuses a request that is longer than the context window of its model. [`Windowed`] is a
//! [`Model`] that sends a shortened view of the thread to a different model. The thread itself is never changed.
//!
//! | type | purpose |
//! |---|---|
//! | [`Windowed`] | a model with a window, for [`Turns::drive`](tool_core::turn::Turns::drive) and for an [`Agent`](crate::agent::Agent) |
//! | [`Window`] | the size of the window, and when and how requests are shortened |
//! | [`Compaction`] | the model that writes summaries, and their limits |
//! | [`TokenCounter`] | counts tokens; [`EstimatedTokens`] is the default |
//! | [`SummaryStore`] | keeps summaries across runs; [`MemorySummaryStore`] keeps them in memory |
//!
//! # What is removed
//!
//! A *round* is a message of the model with the results of its calls. Rounds are removed as a whole, the oldest first, and the last round of a turn
//! together with the user's messages that begin the turn. These messages are always sent:
//!
//! - system messages, and the instructions of an agent;
//! - the last message of the user, and all messages of the user that the model has not answered;
//! - rounds with a call that has no result yet, and the message of the user before them;
//! - the last rounds ([`WindowBuilder::keep_rounds`]), and a round whose results the model has not read.
//!
//! If these messages alone are larger than the window, the run ends with an error whose text for operators states both sizes, and the model gets no
//! request.
//!
//! # When rounds are removed
//!
//! A request above the trigger is shortened to the target, so that the beginning of the next requests stays the same and the provider can read it
//! from its prompt cache. Without a [`Compaction`], the first message of a view depends only on the thread, the tools and the settings, so it is the
//! same in every run, unless the provider refused a request as too long.
//!
//! The size of a request is the number of input tokens that the provider reported for the last request, plus the count of the messages since then. If
//! the view is shorter than the last one, the reported number is scaled by the ratio of the counts of the two views. Before the first report, the
//! count of the [`TokenCounter`] is used.
//!
//! If the provider refuses a request of an [`HttpModel`](crate::model::HttpModel) as too long ([`ModelErrorKind::ContextWindow`]), the window is
//! reduced to three quarters of that request until the end of the run, and one shorter request is sent, if more messages can be removed.
//!
//! ```
//! use tool_agent::agent::Agent;
//! use tool_agent::model::{Script, ScriptedModel};
//! use tool_agent::window::{Compaction, MemorySummaryStore, Window, Windowed};
//! use tool_core::ToolContext;
//! use tool_core::store::MemoryStore;
//! use tool_core::turn::{ModelMessage, Turns};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A host uses `HttpModel`s here, and the size of the context window of its model.
//! let model = ScriptedModel::new([Script::with(|request| {
//!     Ok(ModelMessage::text(format!("I read {} messages.", request.messages.len())))
//! })]);
//! let summariser = ScriptedModel::new([Script::text("The user tells long stories.")]);
//! let window = Window::builder(1_000)
//!     .keep_rounds(1)
//!     .compact(Compaction::new(summariser).most_summary_tokens(100).store(MemorySummaryStore::default()))
//!     .build()?;
//! let agent = Agent::builder("listener", Windowed::new(model, window)).build()?;
//!
//! let turns = Turns::new(MemoryStore::default());
//! let cx = ToolContext::builder().workspace("acme").agent(agent.name()).conversation("main").build();
//! for _ in 0..3 {
//!     agent.respond("Once upon a time, ".repeat(60), &turns, &cx).await?;
//! }
//! // The third request has the summary, the second turn of two messages, and the last message of the user.
//! assert_eq!(turns.last(&cx).await?.unwrap().message().text, "I read 4 messages.");
//! assert_eq!(turns.messages(&cx, None).await?.len(), 6);
//! # Ok(())
//! # }
//! ```

use std::fmt;

use futures::future::{BoxFuture, FutureExt as _};
use tool_core::ToolError;
use tool_core::store::Usage;
use tool_core::turn::{Model, ModelMessage, ModelRequest};

use crate::model::ModelErrorKind;

mod compact;
mod config;
mod count;
mod layout;
mod state;
mod summary;
mod trim;

pub use config::{Compaction, Window, WindowBuilder, WindowConfigError};
pub use count::{EstimatedTokens, TokenCounter};
use state::State;
pub use summary::{MemorySummaryStore, StoredSummary, SummaryStore};

/// A model that sends a view of the thread that is not longer than a [`Window`] allows. The module [describes](self) the view.
///
/// The tokens of the summariser count towards the run ([`Model::unsettled_usage`]), and are not a part of the usage of a message.
///
/// A clone shares the settings and the store of summaries, and has its own state. Use one clone for each concurrent run; an
/// [`Agent`](crate::agent::Agent) clones its model for each run.
#[doc(alias(
    "compaction",
    "context window",
    "history processor",
    "summarize",
    "trim_messages",
    "truncation"
))]
pub struct Windowed<M> {
    model: M,
    window: Window,
    state: State,
}

impl<M> Windowed<M> {
    /// Creates a model that shortens the requests to `model`.
    pub fn new(model: M, window: Window) -> Self {
        Self {
            model,
            window,
            state: State::default(),
        }
    }

    /// Returns the model that gets the requests, for example for [`HttpModel::error`](crate::model::HttpModel::error).
    pub fn model(&self) -> &M {
        &self.model
    }

    /// Returns the model that gets the requests.
    pub fn into_model(self) -> M {
        self.model
    }
}

impl<M: Model> Windowed<M> {
    async fn ask(&mut self, request: ModelRequest<'_>) -> Result<ModelMessage, ToolError> {
        self.state.begin(&request, &self.window.0).await;
        let mut view = self.state.view(&request, &self.window.0).await?;
        let mut shortened = false;
        loop {
            self.state.asking = true;
            let messages = view.messages(request.messages);
            let sent = ModelRequest {
                messages,
                ..request
            };
            let error = match self.model.next(sent).await {
                Ok(message) => {
                    self.state.learn(&view, message.usage);
                    return Ok(message);
                }
                Err(error) => error,
            };
            if shortened || !is_too_long(&error) {
                return Err(error);
            }
            shortened = true;
            self.state.asking = false;
            self.state.spend(self.model.unsettled_usage());
            self.state.shrink(&view);
            match self.state.view(&request, &self.window.0).await {
                Ok(shorter) if shorter.is_shorter(&view) => view = shorter,
                _ => return Err(error),
            }
        }
    }
}

/// Returns whether the provider of an [`HttpModel`](crate::model::HttpModel) refused the request as too long. The operator's text of such an error
/// contains the description of its class.
fn is_too_long(error: &ToolError) -> bool {
    let text = ModelErrorKind::ContextWindow.to_string();
    error.operator_text().contains(&text)
}

impl<M: Model> Model for Windowed<M> {
    fn next<'a>(
        &'a mut self,
        request: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        self.ask(request).boxed()
    }

    fn interrupted(&mut self) -> Option<ModelMessage> {
        // While a summary is requested, the model still has the state of an earlier request.
        if self.state.asking {
            self.model.interrupted()
        } else {
            None
        }
    }

    fn unmeasured_requests(&mut self) -> u32 {
        let summariser = self.state.summariser.as_mut();
        let summaries = summariser.map_or(0, |model| model.unmeasured_requests());
        summaries.saturating_add(self.model.unmeasured_requests())
    }

    /// Estimates the request as if it were not shortened. This also covers a request for a summary of the removed messages.
    fn estimate(&mut self, request: &ModelRequest<'_>, output: u64) -> Usage {
        self.model.estimate(request, output)
    }

    fn unsettled_usage(&mut self) -> Option<Usage> {
        let summariser = self.state.summariser.as_mut();
        let unsettled = summariser.and_then(|model| model.unsettled_usage());
        self.state.spend(unsettled);
        self.state.spend(self.model.unsettled_usage());
        self.state.spent.take()
    }
}

/// Returns a model with the same settings that has not been asked.
impl<M: Clone> Clone for Windowed<M> {
    fn clone(&self) -> Self {
        Self::new(self.model.clone(), self.window.clone())
    }
}

impl<M: fmt::Debug> fmt::Debug for Windowed<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Windowed")
            .field("model", &self.model)
            .field("window", &self.window)
            .finish_non_exhaustive()
    }
}
