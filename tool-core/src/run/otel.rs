//! The span of a call as a part of a distributed trace.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::telemetry::CallSpan;
use crate::context::{CallScope, ToolContext, TraceContext};

/// Makes the span a child of the one that the host was called with. Does nothing where no layer exports spans.
pub(super) fn adopt(span: &Span, cx: &ToolContext) {
    let Some(trace) = cx.trace() else { return };
    let carrier: HashMap<String, String> = trace
        .headers()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let parent = TraceContextPropagator::new().extract(&carrier);
    // Fails where the subscriber has no layer of OpenTelemetry, which is no fault of the call.
    let _ = span.set_parent(parent);
}

/// Keeps where the call stands, for services that it calls.
pub(super) fn announce(span: &CallSpan, scope: &CallScope) {
    let Some(span) = span.get() else {
        return;
    };
    let own = span.context();
    if !own.span().span_context().is_valid() {
        return;
    }
    let mut carrier: HashMap<String, String> = HashMap::new();
    TraceContextPropagator::new().inject_context(&own, &mut carrier);
    let state = carrier.get("tracestate").cloned();
    if let Some(parent) = carrier.remove("traceparent")
        && let Ok(trace) = TraceContext::new(parent, state.as_deref())
    {
        // A run that is tried again has the span of the first.
        let _ = scope.trace.set(trace);
    }
}
