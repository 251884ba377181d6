//! Calls of the tools in a toolset.

use std::future::Future;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::StreamExt as _;
use futures::future::Either;
use futures::stream::Stream;

use super::Toolset;
use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::run;
use crate::tool::Tool;

impl Toolset {
    /// Runs a call to its end. Whatever goes wrong is in the result.
    pub fn call(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> impl Future<Output = CallResult> + Send {
        run::call(self, call, cx).map(|result| result.in_conversation(cx.shared_conversation()))
    }

    /// Runs a call and tells what happens: `Started` unless it is refused, progress, and one `Done`.
    ///
    /// The run goes on only while the stream is read; dropping it cancels the call.
    pub fn stream(
        &self,
        call: ToolCall,
        cx: &ToolContext,
    ) -> impl Stream<Item = ToolEvent> + Send + use<> {
        let conversation = cx.shared_conversation();
        let events = match self.search {
            None => Either::Left(run::stream(self.clone(), call, cx.clone())),
            Some(_) => Either::Right(self.stream_opened(call, cx)),
        };
        events.map(move |event| in_conversation(event, conversation.as_ref()))
    }

    /// Runs what a person has approved: exactly that call with exactly those arguments, once.
    ///
    /// `token` is that of the call's [`Ticket`](crate::Ticket), and `cx` that of the same user and workspace. Everything is judged
    /// again first: the tool has to be visible and unchanged, and where the policy has another version, a call that is not denied is
    /// asked about anew. A token whose approval still waits gives `Pending` again; one that was used gives the stored result, where
    /// the host keeps a ledger.
    #[cfg(feature = "host")]
    pub fn resume(&self, token: &str, cx: &ToolContext) -> impl Future<Output = CallResult> + Send {
        run::resume(self, token, cx, None)
            .map(|result| result.in_conversation(cx.shared_conversation()))
    }

    /// As [`resume`](Toolset::resume), and tells what happens.
    #[cfg(feature = "host")]
    pub fn resume_stream(
        &self,
        token: &str,
        cx: &ToolContext,
    ) -> impl Stream<Item = ToolEvent> + Send + use<> {
        let conversation = cx.shared_conversation();
        run::resume_stream(self.clone(), token.to_owned(), cx.clone())
            .map(move |event| in_conversation(event, conversation.as_ref()))
    }

    /// A typed call, through the same gate.
    pub fn invoke<T: Tool>(
        &self,
        input: T,
        cx: &ToolContext,
    ) -> impl Future<Output = Result<T::Output, ToolError>> + Send {
        run::invoke(self, input, cx)
    }

    /// Waits until a policy that the turn's rules hold switches a tool off for a tenant.
    #[cfg(feature = "host")]
    pub(crate) async fn killed(&self, tool: &str, tenant: &str) {
        let live = self.view.as_ref().map_or(&[][..], |view| &view.live);
        let mut policies = live.iter().filter_map(|live| live.policy.as_ref());
        let Some(first) = policies.next() else {
            return std::future::pending().await;
        };
        let first = first.shared.killed(tool, tenant);
        // More than one only where toolsets were combined.
        let rest: Vec<_> = policies
            .map(|policy| Box::pin(policy.shared.killed(tool, tenant)))
            .collect();
        if rest.is_empty() {
            return first.await;
        }
        futures::future::select(std::pin::pin!(first), futures::future::select_all(rest)).await;
    }

    /// Whether the turn's rules hold a policy.
    #[cfg(feature = "host")]
    pub(crate) fn has_policy(&self) -> bool {
        self.view
            .as_ref()
            .is_some_and(|view| view.live.iter().any(|live| live.policy.is_some()))
    }
}

/// Adds the conversation to the result at the end of a stream.
fn in_conversation(event: ToolEvent, conversation: Option<&Arc<str>>) -> ToolEvent {
    match event {
        ToolEvent::Done(result) => ToolEvent::Done(result.in_conversation(conversation.cloned())),
        event => event,
    }
}
