//! Calls of the tools in a toolset.

use std::future::Future;

#[cfg(feature = "host")]
use futures::FutureExt as _;
use futures::future::Either;
use futures::stream::Stream;

use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::run;
use crate::tool::Tool;
use crate::toolset::Toolset;

impl Toolset {
    /// Runs a call to its end. The result reports every failure.
    #[expect(clippy::manual_async_fn, reason = "the signature promises `Send`")]
    pub fn call(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> impl Future<Output = CallResult> + Send {
        // A combinator around `run::call` would move the whole future.
        async move {
            if self.has_switches() {
                self.freshen().await;
            }
            run::call(self, call, cx).await
        }
    }

    /// Runs a call and streams its events: `Started` if the body of the tool begins, progress, and one `Done`.
    ///
    /// The call runs only while the stream is read. Dropping the stream cancels the call.
    pub fn stream(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> impl Stream<Item = ToolEvent> + Send + use<> {
        let events = match self.search() {
            None => Either::Left(run::stream(self.clone(), call, cx.clone())),
            Some(_) => Either::Right(run::searched::stream(self, call, cx)),
        };
        self.freshly_streamed(events)
    }

    /// Runs a call that a person has approved, once and with exactly the approved arguments.
    ///
    /// `token` is the token of the call's [`Ticket`](crate::Ticket), and `cx` must have the same user, agent, workspace and conversation. All checks are
    /// repeated first: the tool has to be visible and unchanged, and if the policy has a different version, a call that is not denied needs a new approval.
    /// If nobody has answered yet, the result is `Pending` again. If the approval was used before, the result is read from the host's ledger. The
    /// call runs now only if the ledger shows that it has not begun.
    #[cfg(feature = "host")]
    pub fn resume(&self, token: &str, cx: &ToolContext) -> impl Future<Output = CallResult> + Send {
        self.freshly(run::resume(self, token, cx, None))
    }

    /// Runs an approved call as [`resume`](Toolset::resume) does, and streams its events.
    #[cfg(feature = "host")]
    pub fn resume_stream(
        &self,
        token: &str,
        cx: &ToolContext,
    ) -> impl Stream<Item = ToolEvent> + Send + use<> {
        self.freshly_streamed(run::resume_stream(
            self.clone(),
            token.to_owned(),
            cx.clone(),
        ))
    }

    /// Makes a typed call, which passes the same checks as a call of a model.
    pub fn invoke<T: Tool>(
        &self,
        input: T,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<T::Output, ToolError>> + Send {
        self.freshly(run::invoke(self, input, cx))
    }
}

#[cfg(not(feature = "host"))]
impl Toolset {
    fn freshly<F: Future>(&self, call: F) -> F {
        call
    }

    fn freshly_streamed<S: Stream>(&self, call: S) -> S {
        call
    }
}

#[cfg(feature = "host")]
impl Toolset {
    /// Runs a call. If the stored switches were read too long ago, rereads them first.
    async fn freshly<F: Future + Send>(&self, call: F) -> F::Output {
        if self.has_switches() {
            self.freshen().await;
        }
        call.await
    }

    fn freshly_streamed<S: Stream<Item = ToolEvent> + Send>(
        &self,
        call: S,
    ) -> impl Stream<Item = ToolEvent> + Send + use<S> {
        if !self.has_switches() {
            return Either::Left(call);
        }
        let tools = self.clone();
        let first = async move { tools.freshen().await };
        // A stream does nothing until it is polled, and `call` is polled only after the stored switches were read.
        Either::Right(Box::pin(first.map(move |()| call).flatten_stream()))
    }
}
