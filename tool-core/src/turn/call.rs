//! One call of a message.

use std::pin::pin;

use futures::stream::StreamExt as _;

use super::{ModelMessage, Turns};
use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::{Gated, ToolContext};
use crate::error::{ErrorKind, ToolError};
use crate::gate::Gate;
use crate::store::{EffectRow, EffectState};
use crate::toolset::Toolset;

/// What came of one call.
pub(super) enum Ended {
    Result(Box<CallResult>),
    Unsettled(Box<EffectRow>),
    /// The host took no more calls: it stays open.
    NotTaken,
}

impl Turns {
    pub(super) async fn one(
        &self,
        tools: &Toolset,
        message: &ModelMessage,
        call: &ToolCall,
        cx: &ToolContext,
    ) -> Ended {
        let refused = |kind, text| {
            let error = ToolError::of(kind, text);
            Ended::Result(Box::new(CallResult::refused(call.clone(), error)))
        };
        if message.truncated {
            return refused(
                ErrorKind::InvalidArguments,
                "the message was cut off before its end, so its calls were not run; say it again in fewer words",
            );
        }
        if message.provider_tools.contains(&call.name) {
            return refused(
                ErrorKind::UnknownTool,
                "the provider runs this tool itself, it cannot be called here",
            );
        }
        if cx.is_cancelled() {
            return refused(
                ErrorKind::Cancelled,
                "the turn was stopped before this call",
            );
        }
        let result = self.call(tools, call, cx).await;
        let unavailable = result
            .error()
            .is_some_and(|error| error.kind() == ErrorKind::Unavailable);
        if unavailable && tools.gate().is_some_and(Gate::is_draining) {
            return Ended::NotTaken;
        }
        match unsettled(tools, call, cx, &result).await {
            None => Ended::Result(Box::new(result)),
            Some(row) if is_open(&row) => Ended::Unsettled(row),
            // It has ended meanwhile.
            Some(_) => Ended::Result(Box::new(self.call(tools, call, cx).await)),
        }
    }

    async fn call(&self, tools: &Toolset, call: &ToolCall, cx: &ToolContext) -> CallResult {
        let Some(progress) = &self.progress else {
            return tools.call(call.clone(), cx).await;
        };
        let mut events = pin!(tools.stream(call.clone(), cx));
        while let Some(event) = events.next().await {
            match event {
                ToolEvent::Started => {}
                ToolEvent::Progress(step) => progress(call, &step),
                ToolEvent::Done(result) => return result,
            }
        }
        // Every stream of events ends with a result.
        let error = ToolError::of(ErrorKind::Cancelled, "the call ended without a result");
        CallResult::refused(call.clone(), error)
    }
}

/// The ledger's row of a call that was not run because it was begun before.
async fn unsettled(
    tools: &Toolset,
    call: &ToolCall,
    cx: &ToolContext,
    result: &CallResult,
) -> Option<Box<EffectRow>> {
    let interrupted = result
        .error()
        .is_some_and(|error| error.kind() == ErrorKind::Interrupted);
    if !interrupted || result.is_replayed() || cx.call_id().is_some() {
        return None;
    }
    let key = Gated::open(cx, call, None).ok()?.key(cx, call).to_owned();
    let row = tools.gate()?.effects()?.get(&key).await;
    // Where the ledger fails, the result says what is known.
    row.ok()?.map(Box::new)
}

fn is_open(row: &EffectRow) -> bool {
    matches!(row.state, EffectState::Running | EffectState::Ambiguous)
}
