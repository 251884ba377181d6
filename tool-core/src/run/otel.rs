//! Distributed tracing: links a call's span to the caller's trace, and passes the call's trace context to the services that the tool calls.

use std::collections::HashMap;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::TraceContextExt;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::telemetry::CallSpan;
use crate::context::{CallScope, ToolContext, TraceContext};

/// Makes the span a child of the span that the host was called with. Does nothing if the context has no trace, or if no layer exports spans.
pub(super) fn adopt(span: &Span, cx: &ToolContext) {
    let Some(trace) = cx.trace() else { return };
    let carrier: HashMap<String, String> = trace
        .headers()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let parent = TraceContextPropagator::new().extract(&carrier);
    // This fails if the subscriber has no OpenTelemetry layer, which is not an error of the call.
    let _ = span.set_parent(parent);
}

/// Stores the trace context of the call, for services that it calls.
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
        // A run that is retried has the span of the first run.
        let _ = scope.trace.set(trace);
    }
}
