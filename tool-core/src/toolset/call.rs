//! Calls of the tools in a toolset.

use std::future::Future;

#[cfg(feature = "host")]
use futures::FutureExt as _;
#[cfg(feature = "host")]
use futures::future::BoxFuture;
use futures::future::Either;
use futures::stream::Stream;

use super::Toolset;
use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::ToolContext;
#[cfg(feature = "host")]
use crate::error::ErrorKind;
use crate::error::ToolError;
use crate::run;
use crate::tool::Tool;
#[cfg(feature = "host")]
use crate::visibility::Switches;

impl Toolset {
    /// Runs a call to its end. Every failure is in the result.
    #[expect(clippy::manual_async_fn, reason = "the signature promises `Send`")]
    pub fn call(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> impl Future<Output = CallResult> + Send {
        // Not a combinator around `run::call`, because that would move the whole future.
        async move {
            if self.has_switches() {
                self.freshen().await;
            }
            run::call(self, call, cx).await
        }
    }

    /// Runs a call and streams its events: `Started` unless it is refused, progress, and one `Done`.
    ///
    /// The call runs only while the stream is read. Dropping the stream cancels the call.
    pub fn stream(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> impl Stream<Item = ToolEvent> + Send + use<> {
        let events = match self.search {
            None => Either::Left(run::stream(self.clone(), call, cx.clone())),
            Some(_) => Either::Right(self.stream_opened(call, cx)),
        };
        self.freshly_streamed(events)
    }

    /// Runs a call that a person has approved: exactly that call with exactly those arguments, once.
    ///
    /// `token` is that of the call's [`Ticket`](crate::Ticket), and `cx` must have the same user and workspace. Everything is checked
    /// again first: the tool has to be visible and unchanged, and if the policy has another version, a call that is not denied needs a
    /// new approval. If the approval of a token is still open, the result is `Pending` again. If the token was used, the result is the stored
    /// one, if the host keeps a ledger.
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

    /// Makes a typed call, through the same gate.
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
    fn has_switches(&self) -> bool {
        false
    }

    #[expect(clippy::unused_async, reason = "switches are a host's")]
    async fn freshen(&self) {}

    fn freshly<F: Future>(&self, call: F) -> F {
        call
    }

    fn freshly_streamed<S: Stream>(&self, call: S) -> S {
        call
    }
}

#[cfg(feature = "host")]
impl Toolset {
    /// Returns the stored switches of the turn's rules.
    fn switches(&self) -> impl Iterator<Item = &Switches> {
        let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
        live.iter()
            .filter_map(|live| live.switches.as_ref().map(|view| &view.shared))
    }

    #[inline]
    fn has_switches(&self) -> bool {
        self.switches().next().is_some()
    }

    /// Rereads stored switches that were read too long ago. Boxed, so that a call without switches has no room for it.
    fn freshen(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for switches in self.switches() {
                switches.freshen().await;
            }
        })
    }

    /// Runs a call after rereading stored switches that were read too long ago.
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
        let all: Vec<Switches> = self.switches().cloned().collect();
        if all.is_empty() {
            return Either::Left(call);
        }
        let first = async move {
            for switches in all {
                switches.freshen().await;
            }
        };
        // A stream does nothing before it is read, and the call is read after this.
        Either::Right(Box::pin(first.map(move |()| call).flatten_stream()))
    }

    /// Rereads the stored switches after a call was recorded. If that fails, a call that has a row in the ledger must not
    /// run.
    pub(crate) async fn reread_switches(&self, is_claimed: bool) -> Result<(), ToolError> {
        for switches in self.switches() {
            if !is_claimed {
                switches.freshen().await;
            } else if let Err(error) = Box::pin(switches.refresh()).await {
                let text = "the call was not made, because the host could not check whether it is still allowed";
                return Err(ToolError::of(ErrorKind::Unavailable, text)
                    .operator(format!("the stored switches cannot be read: {error}")));
            }
        }
        Ok(())
    }

    /// Waits until a kill switch of the turn's rules is turned on for a tool and a tenant.
    pub(crate) async fn killed(&self, tool: &str, tenant: &str) {
        let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
        let policies = live.iter().filter_map(|live| live.policy.as_ref());
        let policies = policies.map(|policy| policy.shared.killed(tool, tenant).boxed());
        let switches = self.switches();
        let switches = switches.map(|switches| switches.killed(tool, tenant).boxed());
        let mut all: Vec<_> = policies.chain(switches).collect();
        match (all.pop(), all.is_empty()) {
            (None, _) => std::future::pending().await,
            (Some(only), true) => only.await,
            (Some(last), false) => {
                futures::future::select(last, futures::future::select_all(all)).await;
            }
        }
    }

    /// Whether the turn's rules have something that can cancel a running call.
    pub(crate) fn can_be_killed(&self) -> bool {
        let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
        live.iter()
            .any(|live| live.policy.is_some() || live.switches.is_some())
    }
}
