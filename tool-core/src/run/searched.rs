//! Calls of `search_tools` and `call_tool`: the call that is the argument of `call_tool` runs in its place.

use futures::FutureExt as _;
use futures::future::BoxFuture;
use futures::stream::{BoxStream, StreamExt as _};

use crate::call::{CallResult, ToolCall, ToolEvent};
use crate::context::ToolContext;
use crate::search::CALL_TOOL;
use crate::toolset::{Toolset, open};

/// Runs a call of a toolset with a search. For `call_tool`, runs the inner call, and returns its result under the name `call_tool`. The future is
/// boxed, so that calls of other toolsets do not reserve memory for it.
pub(super) fn call(
    toolset: &Toolset,
    call: ToolCall,
    cx: &ToolContext,
) -> BoxFuture<'static, CallResult> {
    let opened = match open(toolset, call, cx) {
        Ok(opened) => opened,
        Err(result) => return std::future::ready(*result).boxed(),
    };
    let tools = toolset.opened();
    async move {
        let result = super::call(&tools, opened.call, &opened.cx).await;
        named(result, opened.inner)
    }
    .boxed()
}

/// Runs the same call as [`call`], and returns its events as a stream.
pub(super) fn stream(
    toolset: &Toolset,
    call: ToolCall,
    cx: &ToolContext,
) -> BoxStream<'static, ToolEvent> {
    let opened = match open(toolset, call, cx) {
        Ok(opened) => opened,
        Err(result) => {
            return futures::stream::once(std::future::ready(ToolEvent::Done(*result))).boxed();
        }
    };
    let inner = opened.inner;
    super::stream(toolset.opened(), opened.call, opened.cx)
        .map(move |event| match event {
            ToolEvent::Done(result) => ToolEvent::Done(named(result, inner)),
            event => event,
        })
        .boxed()
}

/// Sets the name of the result to the name in the model's call.
fn named(mut result: CallResult, inner: bool) -> CallResult {
    if inner {
        CALL_TOOL.clone_into(&mut result.name);
    }
    result
}
