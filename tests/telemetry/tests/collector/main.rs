//! Calls through a gate, whose spans and metrics are exported over OTLP to a test collector.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod stand_in;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures::StreamExt as _;
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{MetricExporter, Protocol, SpanExporter, WithExportConfig as _};
use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_sdk::metrics::SdkMeterProvider;
use opentelemetry_sdk::trace::SdkTracerProvider;
use stand_in::{Collector, attribute};
use tool_core::policy::{Policy, Rule, SharedPolicy};
use tool_core::prelude::*;
use tool_core::redact::{RedactingExporter, SharedRedactor};
use tool_core::store::MemoryStore;
use tool_core::{Approvals, Audit, ExposeSecret, Gate, Reply, Rules, TraceContext};
use tracing::field::{Field, Visit};
use tracing_opentelemetry::MetricsLayer;
use tracing_subscriber::layer::SubscriberExt as _;

const SECRET: &str = "sk-telemetry-secret";
const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Calls a service, and returns the headers that it sends.
#[tool(read_only)]
async fn fetch(
    cx: &ToolContext,
    #[secret("key")] key: SecretString,
    /// The page to fetch.
    what: String,
) -> Vec<String> {
    // The tool's code, and the crates that it calls, write spans and events too.
    let span = tracing::info_span!("http", url = format!("https://x/{}", key.expose_secret()));
    span.in_scope(|| tracing::info!(token = key.expose_secret(), "sent"));
    let headers = cx.trace().into_iter().flat_map(TraceContext::headers);
    let mut sent: Vec<String> = headers
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    sent.push(format!("{what} {}", key.expose_secret()));
    sent
}

/// Always fails, for this test.
#[tool(read_only)]
async fn fail() -> Result<u8, ToolError> {
    Err(ToolError::new("no"))
}

/// Removes a file.
#[tool(destructive)]
async fn remove(
    /// The name of the file.
    name: String,
) -> String {
    name
}

/// A host that exports spans and metrics to the collector.
struct Telemetry {
    collector: Collector,
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
    shared: SharedRedactor,
}

impl Telemetry {
    fn start() -> Self {
        let collector = Collector::start();
        let exporter = SpanExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(collector.url("/v1/traces"))
            .build()
            .unwrap();
        let shared = SharedRedactor::default();
        let traces = SdkTracerProvider::builder()
            .with_batch_exporter(RedactingExporter::new(exporter, shared.clone()))
            .build();
        let exporter = MetricExporter::builder()
            .with_http()
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(collector.url("/v1/metrics"))
            .build()
            .unwrap();
        let metrics = SdkMeterProvider::builder()
            .with_periodic_exporter(exporter)
            .build();
        Self {
            collector,
            traces,
            metrics,
            shared,
        }
    }

    fn subscriber(&self) -> impl tracing::Subscriber + Send + Sync + 'static + use<> {
        tracing_subscriber::registry()
            .with(tracing_opentelemetry::layer().with_tracer(self.traces.tracer("host")))
            .with(MetricsLayer::new(self.metrics.clone()))
    }

    /// Waits until all spans and metrics are exported.
    fn flush(&self) {
        self.traces.force_flush().unwrap();
        self.metrics.force_flush().unwrap();
    }

    fn span(&self, call: &str) -> Span {
        let mut spans = self.collector.spans().into_iter();
        let of_call = |span: &Span| {
            attribute(&span.attributes, "gen_ai.tool.call.id").as_deref() == Some(call)
        };
        spans.find(of_call).unwrap_or_else(|| panic!("{call}"))
    }
}

/// Runs calls with a subscriber, on this thread.
fn listen<T>(
    subscriber: impl tracing::Subscriber + Send + Sync + 'static,
    calls: impl Future<Output = T>,
) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    tracing::subscriber::with_default(subscriber, || runtime.block_on(calls))
}

fn policy() -> SharedPolicy {
    let removals = Rule::ask("ask-removals").tools(["remove"]);
    SharedPolicy::new(Policy::builder().rule(removals).build().unwrap())
}

fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

fn context() -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .agent("clerk")
        .conversation("th-1")
        .secret("key", SECRET)
        .trace(TraceContext::new(PARENT, Some("vendor=1")).unwrap())
        .build()
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::new();
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

// issue 3, point 9: spans follow the GenAI conventions, continue the caller's trace, propagate it, and record decisions; durations are measured. M8:
// the exported bytes contain no secret.
#[test]
fn calls_are_exported_to_a_collector() {
    let telemetry = Telemetry::start();
    let lease = telemetry
        .shared
        .add([("key", SecretString::from(SECRET))])
        .unwrap();
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .approvals(Approvals::builder(store.clone()).build().unwrap())
        .ledger(store.clone())
        // Audit rows that wait to be written do not keep their spans open.
        .audit(Audit::best_effort(store.clone()))
        .build();
    let registry = Registry::builder()
        .tool::<fetch>()
        .tool::<fail>()
        .tool::<remove>()
        .build()
        .unwrap();
    let cx = context();
    let rules = Rules::default().policy(&policy());
    let tools = registry.toolset(&cx, &rules).through(&gate);
    let secret_argument = format!(r#"{{"what":"{SECRET}"}}"#);
    let fetched = listen(telemetry.subscriber(), async {
        let fetched = tools
            .call(call("c-1", "fetch", &secret_argument), &cx)
            .await;
        assert!(tools.call(call("c-2", "fail", "{}"), &cx).await.is_error());
        let asked = tools
            .call(call("c-3", "remove", r#"{"name":"a"}"#), &cx)
            .await;
        let [ticket] = asked.tickets() else {
            panic!("{asked:?}");
        };
        let approvals = gate.approvals().unwrap();
        approvals
            .answer(
                &cx.own_workspace(),
                &tools,
                &ticket.token,
                Reply::Approve,
                "boss",
                None,
            )
            .await
            .unwrap();
        assert!(!tools.resume(&ticket.token, &cx).await.is_error());
        assert!(
            tools
                .call(call("c-4", "nothing", "{}"), &cx)
                .await
                .is_error()
        );
        fetched
    });
    telemetry.flush();
    follows_the_conventions(&telemetry.span("c-1"));
    is_part_of_a_trace(&telemetry, &fetched);
    assert_decisions_are_recorded(&telemetry);
    measures_durations(&telemetry);
    let sent = telemetry.collector.bytes();
    let secret = SECRET.as_bytes();
    assert!(!sent.windows(secret.len()).any(|bytes| bytes == secret));
    drop(lease);
}

fn of(span: &Span, key: &str) -> Option<String> {
    attribute(&span.attributes, key)
}

fn follows_the_conventions(span: &Span) {
    assert_eq!(span.name, "execute_tool fetch");
    assert_eq!(span.kind().as_str_name(), "SPAN_KIND_INTERNAL");
    for (key, value) in [
        ("gen_ai.operation.name", Some("execute_tool")),
        ("gen_ai.tool.name", Some("fetch")),
        ("gen_ai.tool.type", Some("function")),
        (
            "gen_ai.tool.description",
            Some("Calls a service, and returns the headers that it sends."),
        ),
        ("gen_ai.conversation.id", Some("th-1")),
        ("gen_ai.agent.name", Some("clerk")),
        ("tool_core.attempts", Some("1")),
        ("error.type", None),
        ("gen_ai.tool.call.arguments", None),
        ("gen_ai.tool.call.result", None),
    ] {
        assert_eq!(of(span, key).as_deref(), value, "{key}");
    }
    assert!(of(span, "tool_core.policy.version").is_some());
    assert!(span.events.is_empty(), "{:?}", span.events);
}

fn is_part_of_a_trace(telemetry: &Telemetry, fetched: &CallResult) {
    let span = telemetry.span("c-1");
    // The span of the call is a child of the host's span, and the headers that the tool sends name the span of the call as their parent.
    assert_eq!(hex(&span.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&span.parent_span_id), "b7ad6b7169203331");
    let sent: Vec<String> = serde_json::from_str(fetched.output().unwrap().get()).unwrap();
    assert_eq!(
        sent,
        [
            format!(
                "traceparent=00-{}-{}-01",
                hex(&span.trace_id),
                hex(&span.span_id)
            ),
            "tracestate=vendor=1".to_owned(),
            "[secret:key] [secret:key]".to_owned(),
        ]
    );
    // The tool's own span is a child of the call's span, and its secrets are redacted on export.
    let spans = telemetry.collector.spans();
    let inner = spans.iter().find(|span| span.name == "http").unwrap();
    assert_eq!(inner.parent_span_id, span.span_id);
    assert_eq!(of(inner, "url").as_deref(), Some("https://x/[secret:key]"));
}

fn assert_decisions_are_recorded(telemetry: &Telemetry) {
    let spans = telemetry.collector.spans();
    let failed = telemetry.span("c-2");
    assert_eq!(of(&failed, "error.type").as_deref(), Some("failed"));
    assert_eq!(failed.status.unwrap().code(), StatusCode::Error);
    let removed: Vec<_> = spans
        .iter()
        .filter(|span| span.name == "execute_tool remove")
        .collect();
    let [asked, ran] = &*removed else {
        panic!("{removed:?}");
    };
    assert_eq!(of(asked, "error.type").as_deref(), Some("pending"));
    assert_ne!(
        asked.status.clone().unwrap_or_default().code(),
        StatusCode::Error
    );
    assert_eq!(of(ran, "error.type"), None);
    for key in ["tool_core.approval.id", "tool_core.policy.version"] {
        assert!(of(asked, key).is_some(), "{key}");
        assert_eq!(of(asked, key), of(ran, key), "{key}");
    }
    assert!(of(asked, "tool_core.decision.id").is_some());
    assert!(!spans.iter().any(|span| span.name.contains("nothing")));
}

fn measures_durations(telemetry: &Telemetry) {
    // Durations are grouped by tool and error. No attribute has an unlimited number of values.
    let metrics = telemetry.collector.metrics();
    let durations = metrics
        .iter()
        .find(|metric| metric.name == "gen_ai.execute_tool.duration")
        .unwrap();
    let Some(Data::Histogram(histogram)) = &durations.data else {
        panic!("{durations:?}");
    };
    let points = histogram.data_points.iter().map(|point| {
        assert!(point.attributes.len() <= 3, "{:?}", point.attributes);
        let of = |key| attribute(&point.attributes, key);
        (
            (of("gen_ai.tool.name").unwrap(), of("error.type")),
            point.count,
        )
    });
    let error = |kind: &str| Some(kind.to_owned());
    assert_eq!(
        points.collect::<BTreeMap<_, _>>(),
        BTreeMap::from([
            (("fetch".to_owned(), None), 1),
            (("fail".to_owned(), error("failed")), 1),
            (("remove".to_owned(), error("pending")), 1),
            (("remove".to_owned(), None), 1),
        ])
    );
}

// issue 3, point 9: spans contain arguments and results only if the gate enables that. The turn's secrets are redacted even if the exporter does not
// redact.
#[test]
fn content_is_recorded_only_on_request() {
    let telemetry = Telemetry::start();
    let gate = Gate::builder().trace_content(true).build();
    let cx = context();
    let arguments = format!(r#"{{"what":"all of {SECRET}"}}"#);
    listen(telemetry.subscriber(), async {
        let tools = toolset![fetch, fail].through(&gate);
        let _ = tools.call(call("c-1", "fetch", &arguments), &cx).await;
        let _ = tools.call(call("c-2", "fail", "{}"), &cx).await;
    });
    telemetry.flush();
    let span = telemetry.span("c-1");
    let of = |key| attribute(&span.attributes, key).unwrap();
    assert_eq!(
        of("gen_ai.tool.call.arguments"),
        r#"{"what":"all of [secret:key]"}"#
    );
    let result: Vec<String> = serde_json::from_str(&of("gen_ai.tool.call.result")).unwrap();
    assert_eq!(
        result.last().map(String::as_str),
        Some("all of [secret:key] [secret:key]")
    );
    let failed = telemetry.span("c-2");
    assert_eq!(
        attribute(&failed.attributes, "gen_ai.tool.call.result"),
        None
    );
}

/// A layer that records events as lines.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl<S: tracing::Subscriber> tracing_subscriber::Layer<S> for Lines {
    fn on_event(&self, event: &tracing::Event<'_>, _: tracing_subscriber::layer::Context<'_, S>) {
        #[derive(Default)]
        struct Fields(BTreeMap<&'static str, String>);
        impl Visit for Fields {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                self.0.insert(field.name(), format!("{value:?}"));
            }
        }
        if event.metadata().target() != "tool_core::call" {
            return;
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        assert_eq!(
            fields.0.remove("duration_ms").is_some(),
            fields.0["message"] == "call ended"
        );
        self.0.lock().unwrap().push(format!("{:?}", fields.0));
    }
}

// S1-10: every dispatch logs its start and its end, with an ok flag and a duration, even if it is refused.
#[test]
fn every_dispatch_is_logged_twice() {
    let gate = Gate::builder().build();
    for tools in [toolset![fetch, fail], toolset![fetch, fail].through(&gate)] {
        let lines = Lines::default();
        let subscriber = tracing_subscriber::registry().with(lines.clone());
        let cx = context();
        listen(subscriber, async {
            for (id, name, arguments) in [
                ("c-1", "fetch", r#"{"what":"a"}"#),
                ("c-2", "fetch", "{}"),
                ("c-3", "fail", "{}"),
                ("c-4", "nothing", "{}"),
            ] {
                let _ = tools.call(call(id, name, arguments), &cx).await;
            }
            let events = tools.stream(call("c-5", "fail", "{}"), &cx);
            let _ = events.collect::<Vec<_>>().await;
        });
        let line = |id: &str, name: &str, kind: Option<&str>| {
            let error = kind.map_or_else(String::new, |kind| {
                format!("\"error.type\": \"\\\"{kind}\\\"\", ")
            });
            let call = format!(
                "\"gen_ai.tool.call.id\": \"\\\"{id}\\\"\", \"gen_ai.tool.name\": \"\\\"{name}\\\"\", \"message\": "
            );
            [
                format!("{{{call}\"call started\"}}"),
                format!(
                    "{{{error}{call}\"call ended\", \"ok\": \"{}\"}}",
                    kind.is_none()
                ),
            ]
        };
        let expected = [
            line("c-1", "fetch", None),
            line("c-2", "fetch", Some("invalid_arguments")),
            line("c-3", "fail", Some("failed")),
            line("c-4", "nothing", Some("unknown_tool")),
            line("c-5", "fail", Some("failed")),
        ];
        assert_eq!(*lines.0.lock().unwrap(), expected.concat());
    }
}
