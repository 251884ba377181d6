//! Runs that begin before a message is stored, so that a host can refuse a request to a busy conversation without storing anything.

use std::fmt;

use serde_json::value::RawValue;

use super::held::{Held, Hold};
use super::thread::Thread;
use super::user::of_user;
use super::{ClientResult, Model, Outcome, ToolMessage, TurnError, Turns, UserMessage, thread};
use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::store::{Message, RunCause, RunId};
use crate::toolset::Toolset;

/// The result of [`Turns::begin`].
#[derive(Debug)]
pub enum Begun {
    /// The run has begun, and this process has its lease.
    Run(Box<BegunRun>),
    /// A different run of the conversation has not ended. Nothing was stored.
    Busy(RunId),
}

/// A run of a conversation whose lease this process has, and that has not made a request yet; created by [`Turns::begin`].
///
/// No other drive of the conversation begins until the run ends or its lease expires. [`drive`](Self::drive) drives the run; if this value is dropped
/// instead, the run ends as cancelled. Only `drive` and [`during`](Self::during) renew the lease, so begin the drive within the length of a
/// [lease](Turns::lease).
#[must_use = "drive the run, or cancel it"]
pub struct BegunRun {
    turns: Turns,
    cx: ToolContext,
    held: Held,
}

impl Turns {
    /// Begins a run of the conversation of a context, before a message is stored.
    ///
    /// [`respond`](Self::respond) stores its message even if a different run is active. A host that has to refuse a message in this case, such as a
    /// server that responds with the status 409, begins the run first.
    ///
    /// ```
    /// use futures::future::BoxFuture;
    /// use tool_core::store::MemoryStore;
    /// use tool_core::turn::{Begun, Model, ModelMessage, ModelRequest, Outcome, Turns};
    /// use tool_core::{Registry, ToolContext, ToolError};
    ///
    /// struct Echo;
    ///
    /// impl Model for Echo {
    ///     fn next<'a>(&'a mut self, request: ModelRequest<'a>) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
    ///         let text = request.messages.last().map_or("", |message| &message.content);
    ///         Box::pin(std::future::ready(Ok(ModelMessage::text(text))))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let turns = Turns::new(MemoryStore::default());
    /// let cx = ToolContext::builder().workspace("acme").conversation("main").user("ann").build();
    /// let Begun::Run(run) = turns.begin(&cx).await? else { unreachable!() };
    /// assert!(matches!(turns.begin(&cx).await?, Begun::Busy(_)));
    ///
    /// run.say("Hello.").await?;
    /// let tools = Registry::builder().build()?.open();
    /// let outcome = run.drive(&mut Echo, |_| tools.clone(), &[]).await?;
    /// assert!(matches!(outcome, Outcome::Answered(text) if text == r#""Hello.""#));
    /// # Ok(())
    /// # }
    /// ```
    pub async fn begin(&self, cx: &ToolContext) -> Result<Begun, TurnError> {
        Ok(match self.hold(thread(cx)?, cx).await? {
            Hold::Mine(held) => Begun::Run(Box::new(BegunRun {
                turns: self.clone(),
                cx: cx.clone(),
                held,
            })),
            Hold::Busy(id) => Begun::Busy(id),
        })
    }

    /// Reads the messages of the conversation of a context, in the order of their sequence numbers, or only the messages after a number.
    pub async fn messages(
        &self,
        cx: &ToolContext,
        after: Option<u64>,
    ) -> Result<Vec<Message>, TurnError> {
        Ok(self.threads.read(&thread(cx)?, after).await?)
    }
}

impl BegunRun {
    /// Returns the id of the run.
    pub fn id(&self) -> &RunId {
        self.held.id()
    }

    /// Stores a user's message in the conversation, as [`Turns::say`] does, and returns its sequence number. This does not interrupt a run.
    pub async fn say(&self, message: impl Into<UserMessage>) -> Result<u64, TurnError> {
        let message = of_user(&message.into(), &self.cx)?;
        Ok(self.turns.threads.append(message).await?)
    }

    /// Returns whether the model has answered the last message of the user, so that [`drive`](Self::drive) would make no request. Also returns true
    /// for an empty conversation, although `drive` would make a request for it.
    pub async fn is_answered(&self) -> Result<bool, TurnError> {
        let thread = self.read().await?;
        Ok(match thread.last_of_model()? {
            Some((last, _, unread)) => !unread && super::drive::is_last(&last.message),
            None => thread.messages().is_empty(),
        })
    }

    /// Returns the calls of the model's last message that have no result yet, in order, as the model wrote them.
    pub async fn open_calls(&self) -> Result<Vec<ToolCall>, TurnError> {
        let thread = self.read().await?;
        let Some((last, ..)) = thread.last_of_model()? else {
            return Ok(Vec::new());
        };
        let results = thread.results(last.seq)?;
        let calls = last.calls(None);
        let open = calls
            .iter()
            .filter(|call| !results.contains_key(&call.position));
        Ok(open.map(|call| call.written.clone()).collect())
    }

    async fn read(&self) -> Result<Thread<'_>, TurnError> {
        self.turns.read(&self.cx).await
    }

    /// Adds a callback for every result of this run, in addition to the callback of [`Turns::observe`].
    pub fn observe(mut self, observer: impl Fn(&ToolMessage) + Send + Sync + 'static) -> Self {
        self.turns = self.turns.observe(observer);
        self
    }

    /// Adds a callback for the progress of the calls of this run, in addition to the callback of [`Turns::progress`].
    pub fn progress(
        mut self,
        progress: impl Fn(&ToolCall, &RawValue) + Send + Sync + 'static,
    ) -> Self {
        self.turns = self.turns.progress(progress);
        self
    }

    /// Changes the settings of the run, such as its limits and callbacks. The result must have the same stores. The lease of the run does not change.
    pub fn settings(mut self, settings: impl FnOnce(Turns) -> Turns) -> Self {
        self.turns = settings(self.turns);
        self
    }

    /// Replaces the context of the run, for example to add host values.
    ///
    /// # Errors
    ///
    /// Fails if the context has no conversation, or if its workspace or conversation is different.
    pub fn context(mut self, cx: &ToolContext) -> Result<Self, TurnError> {
        let of_run = self.held.id().thread();
        if thread(cx)? != *of_run {
            return Err(TurnError::Elsewhere {
                message: of_run.clone(),
            });
        }
        self.cx = cx.clone();
        Ok(self)
    }

    /// Drives the run, as [`Turns::drive`] does. `supplied` are results of the client for open calls of client tools; results for other calls are
    /// ignored.
    pub async fn drive<M: Model + ?Sized>(
        self,
        model: &mut M,
        tools: impl Fn(&ToolContext) -> Toolset,
        supplied: &[ClientResult],
    ) -> Result<Outcome, TurnError> {
        let Self { turns, cx, held } = self;
        let unread = Thread::unread(&turns.threads, held.id().thread().clone());
        turns
            .drive_held(model, tools, &cx, unread, held, supplied)
            .await
    }

    /// Runs a future before the [drive](Self::drive), and renews the lease of the run until the future completes. Use it for preparations that take
    /// longer than a lease.
    pub async fn during<R>(&self, body: impl Future<Output = R>) -> R {
        self.held.during(body).await
    }

    /// Ends the run as cancelled, without a request to the model.
    pub async fn cancel(self) {
        self.held.end(RunCause::Cancelled).await;
    }
}

impl fmt::Debug for BegunRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BegunRun")
            .field("id", self.id())
            .finish_non_exhaustive()
    }
}
