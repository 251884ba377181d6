//! Telemetry of a call through `tracing`: one span, one metric, and log events for its start and end.
//!
//! The span and its attributes follow the OpenTelemetry conventions for generative AI. Attributes that these do not define (decision, policy,
//! approval) start with `tool_core.`. Arguments and results are left out unless a gate enables them.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use tracing::field::Empty;
use tracing::level_filters::LevelFilter;
use tracing::{Level, Span};

#[cfg(feature = "host")]
use crate::audit::Verdicts;
use crate::call::ToolCall;
use crate::context::ToolContext;
use crate::error::{ErrorKind, ToolError};
use crate::tool::ToolDef;

/// The span of a call; `None` if no subscriber listens. Boxed, to keep calls small.
#[derive(Clone)]
pub(super) struct CallSpan(Option<Box<Span>>);

/// Returns whether a subscriber may listen. This is cheap, because it only compares the maximum level of all subscribers.
#[inline]
fn heard() -> bool {
    LevelFilter::current() >= LevelFilter::INFO
}

impl CallSpan {
    /// Opens the span of a call.
    #[inline]
    pub(super) fn open(def: &ToolDef, call: &ToolCall, cx: &ToolContext) -> Self {
        if !heard() {
            return Self(None);
        }
        let span = opened(def, call, cx);
        Self((!span.is_disabled()).then(|| Box::new(span)))
    }

    #[cfg(feature = "otel")]
    pub(super) fn get(&self) -> Option<&Span> {
        self.0.as_deref()
    }

    /// Sets a field of the span.
    pub(super) fn record<V: tracing::Value>(&self, field: &'static str, value: V) {
        if let Some(span) = &self.0 {
            span.record(field, value);
        }
    }

    /// Runs a job within the span, if there is one.
    pub(super) fn run<'a, F: Future>(
        &'a self,
        mut job: Pin<&'a mut F>,
    ) -> impl Future<Output = F::Output> + use<'a, F> {
        // The job is polled in one place only, so that the compiler can inline it.
        std::future::poll_fn(move |task| {
            let _entered = self.0.as_deref().map(Span::enter);
            job.as_mut().poll(task)
        })
    }
}

#[cold]
fn opened(def: &ToolDef, call: &ToolCall, cx: &ToolContext) -> Span {
    let name = def.name();
    // The model wrote the id, so it is redacted.
    let redactor = cx.redactor();
    let id = redactor.redact(&call.id);
    let span = tracing::info_span!(
        target: "tool_core",
        "execute_tool",
        otel.name = %format_args!("execute_tool {name}"),
        otel.kind = "internal",
        otel.status_code = Empty,
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        gen_ai.tool.type = "function",
        gen_ai.tool.call.id = &*id,
        gen_ai.tool.description = def.description(),
        gen_ai.tool.call.arguments = Empty,
        gen_ai.tool.call.result = Empty,
        gen_ai.conversation.id = cx.conversation(),
        gen_ai.agent.name = cx.agent(),
        error.type = Empty,
        tool_core.decision.id = Empty,
        tool_core.policy.version = Empty,
        tool_core.approval.id = Empty,
        tool_core.attempts = Empty,
        tool_core.replayed = Empty,
    );
    #[cfg(feature = "otel")]
    if !span.is_disabled() && cx.call_id().is_none() {
        super::otel::adopt(&span, cx);
    }
    tracing::event!(
        target: "tool_core::call",
        parent: None,
        Level::INFO,
        gen_ai.tool.name = name,
        gen_ai.tool.call.id = &*id,
        "call started"
    );
    span
}

/// Records the decisions of a gate, and the number of runs of the tool.
#[cfg(feature = "host")]
pub(super) fn decided(span: &CallSpan, verdicts: &Verdicts) {
    if span.0.is_none() {
        return;
    }
    if let Some(decision) = verdicts.decision {
        span.record("tool_core.decision.id", tracing::field::display(decision));
    }
    if let Some(policy) = verdicts.policy.as_deref().filter(|text| !text.is_empty()) {
        span.record("tool_core.policy.version", policy);
    }
    if let Some(approval) = verdicts.approval.as_deref() {
        span.record("tool_core.approval.id", approval);
    }
    if verdicts.attempt > 0 {
        span.record("tool_core.attempts", verdicts.attempt);
    }
}

/// Records the arguments as the tool reads them. A gate has to enable this.
#[cfg(feature = "host")]
pub(super) fn arguments(span: &CallSpan, arguments: &str, cx: &ToolContext) {
    if span.0.is_some() {
        let masked = cx.redactor().redact_json(arguments);
        span.record("gen_ai.tool.call.arguments", &*masked);
    }
}

/// Records the result, which is already redacted. A gate has to enable this.
#[cfg(feature = "host")]
pub(super) fn result(span: &CallSpan, output: &str) {
    span.record("gen_ai.tool.call.result", output);
}

/// Reports the end of a call whose scope was opened.
#[inline]
pub(super) fn ended(
    span: &CallSpan,
    def: &ToolDef,
    error: Option<&ToolError>,
    took: Duration,
    cx: &ToolContext,
) {
    if heard() {
        let (redactor, scope) = (cx.redactor(), cx.served());
        let id = redactor.redact(&scope.call.id);
        tell_end(span, def, &id, error, took);
    }
}

#[cold]
fn tell_end(span: &CallSpan, def: &ToolDef, call: &str, error: Option<&ToolError>, took: Duration) {
    let name = def.name();
    let kind = error.map(|error| error.kind().as_str());
    if let Some(kind) = kind {
        span.record("error.type", kind);
        // A call that waits for a person has not failed.
        if error.is_some_and(|error| error.kind() != ErrorKind::Pending) {
            span.record("otel.status_code", "ERROR");
        }
    }
    // This event has neither a message nor an id, because each of its fields becomes an attribute of the metric.
    tracing::event!(
        target: "tool_core::metrics",
        parent: None,
        Level::INFO,
        histogram.gen_ai.execute_tool.duration = took.as_secs_f64(),
        gen_ai.operation.name = "execute_tool",
        gen_ai.tool.name = name,
        error.type = kind,
    );
    report_end(name, call, kind, took);
}

/// Reports the start and the end of a call whose scope was not opened.
pub(super) fn refused(call: &ToolCall, error: &ToolError, cx: &ToolContext) {
    if !heard() {
        return;
    }
    let redactor = cx.redactor();
    let (id, name) = (redactor.redact(&call.id), redactor.redact(&call.name));
    tracing::event!(
        target: "tool_core::call",
        parent: None,
        Level::INFO,
        gen_ai.tool.name = &*name,
        gen_ai.tool.call.id = &*id,
        "call started"
    );
    report_end(&name, &id, Some(error.kind().as_str()), Duration::ZERO);
}

fn report_end(name: &str, call: &str, kind: Option<&str>, took: Duration) {
    tracing::event!(
        target: "tool_core::call",
        parent: None,
        Level::INFO,
        gen_ai.tool.name = name,
        gen_ai.tool.call.id = call,
        ok = kind.is_none(),
        error.type = kind,
        duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "call ended"
    );
}
