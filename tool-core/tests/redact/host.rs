//! Redaction of a host's own output: writers, panics, logs and spans.

use std::io::Write;
use std::process::Command;
use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::redact::{RedactingWriter, SharedRedactor, install_panic_hook};
use tool_core::{OAuth, OAuthToken};

const SECRET: &str = "tok-1234/ä";

fn shared() -> (SharedRedactor, tool_core::redact::Lease) {
    let shared = SharedRedactor::default();
    let lease = shared.add([("token", SecretString::from(SECRET))]).unwrap();
    (shared, lease)
}

// M8: a writer redacts secrets that are split over several writes.
#[test]
fn writer_redacts_secrets_split_over_writes() {
    let (shared, _lease) = shared();
    let text = format!("a {SECRET} b\n{SECRET}");
    for size in 1..text.len() {
        let mut out = RedactingWriter::new(Vec::new(), shared.clone());
        for piece in text.as_bytes().chunks(size) {
            out.write_all(piece).unwrap();
            out.flush().unwrap();
        }
        assert_eq!(out.finish().unwrap(), b"a [secret:token] b\n[secret:token]");
    }
    // Dropping the writer writes the text that was held back because it could become a secret.
    let mut below = Vec::new();
    let mut out = RedactingWriter::new(&mut below, shared);
    out.write_all(b"tok-").unwrap();
    drop(out);
    assert_eq!(below, b"tok-");
}

// M8: secrets are added and removed while a writer is in use.
#[test]
fn secrets_can_be_added_and_removed_while_writing() {
    let (shared, lease) = shared();
    let mut out = RedactingWriter::new(Vec::new(), shared.clone());
    let second = shared
        .add([
            ("token", SecretString::from(SECRET)),
            ("other", SecretString::from("other-one")),
        ])
        .unwrap();
    // This secret was added after the writer was created.
    out.write_all(b"other-one, ").unwrap();
    drop(lease);
    // The second lease still contains the secret.
    assert_eq!(shared.current().redact(SECRET), "[secret:token]");
    drop(second);
    assert!(shared.current().is_empty());
    out.write_all(b"other-one").unwrap();
    assert_eq!(out.finish().unwrap(), b"[secret:other], other-one");

    // A refused secret leaves the others unchanged.
    let lease = shared
        .add([("fine", SecretString::from("fine-one"))])
        .unwrap();
    assert!(shared.add([("pin", SecretString::from("123"))]).is_err());
    assert_eq!(shared.current().redact("fine-one"), "[secret:fine]");
    drop(lease);
    assert!(!format!("{shared:?}").contains("fine-one"));
}

/// A source with one token.
struct Tokens;

impl tool_core::TokenSource for Tokens {
    fn token<'a>(
        &'a self,
        _: &'a ToolContext,
        _: &'a str,
    ) -> BoxFuture<'a, Result<OAuthToken, ToolError>> {
        Box::pin(std::future::ready(Ok(OAuthToken::Ready(
            "oauth-0123456789".into(),
        ))))
    }
}

/// Gets an OAuth token.
#[tool(read_only)]
async fn get_token(oauth: &OAuth) -> Result<u32, ToolError> {
    oauth.token("drive").await?;
    Ok(1)
}

// `redact_in` adds the secrets of a context to the host's redactor until the last clone of the context is dropped
#[tokio::test]
async fn context_secrets_are_redacted_until_the_context_is_dropped() {
    let shared = SharedRedactor::default();
    let cx = ToolContext::builder()
        .secret("token", SecretString::from(SECRET))
        .secret("pin", SecretString::from("123"))
        .secret_variable("REGION", SecretString::from("region-1"))
        .api_key("openai", SecretString::from("sk-openai"))
        .oauth(Arc::new(Tokens))
        .redact_in(&shared)
        .build();
    let all = format!("{SECRET} region-1 sk-openai oauth-0123456789 123");
    let seen = |shared: &SharedRedactor| shared.current().redact(&all).into_owned();
    assert_eq!(
        seen(&shared),
        "[secret:token] [secret:REGION] [secret:api_key:openai] oauth-0123456789 123"
    );
    let result = toolset![get_token]
        .call(ToolCall::new("1", "get_token", "{}"), &cx)
        .await;
    assert!(!result.is_error(), "{result:?}");
    assert_eq!(
        seen(&shared),
        "[secret:token] [secret:REGION] [secret:api_key:openai] [secret:oauth:drive] 123"
    );
    // A derived context keeps the secrets in the redactor.
    let derived = cx.for_call(tool_core::store::CallId::alone(cx.own_workspace()).unwrap());
    drop(cx);
    assert!(!seen(&shared).contains("oauth-"));
    drop(derived);
    assert_eq!(seen(&shared), all);
}

// M8: a panic message contains no secret. The panic is printed by a child process.
#[test]
fn panic_message_is_redacted() {
    if std::env::var_os("PANIC_WITH_A_SECRET").is_some() {
        let (shared, _lease) = shared();
        install_panic_hook(&shared);
        panic!(
            "the server said {SECRET}, in JSON {}",
            serde_json::json!(SECRET).to_string().replace('/', "\\/")
        );
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "host::panic_message_is_redacted", "--nocapture"])
        .env("PANIC_WITH_A_SECRET", "1")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let printed = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(
        printed.contains("the server said [secret:token], in JSON \"[secret:token]\""),
        "{printed}"
    );
    assert!(printed.contains("panicked at"), "{printed}");
    assert!(!printed.contains("tok-"), "{printed}");
}

// M8: logs contain no secret.
#[cfg(feature = "tracing-subscriber")]
#[test]
fn logs_contain_no_secret() {
    use std::sync::{Arc, Mutex};
    use tool_core::redact::RedactingMakeWriter;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);
    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let (shared, _lease) = shared();
    let log = Log::default();
    let below = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_ansi(false)
        .with_writer(RedactingMakeWriter::new(move || below.clone(), shared))
        .finish();
    // With a single subscriber, tracing decides whether a callsite is enabled on the thread that reaches the callsite first, which may be the thread
    // of a different test.
    let _second = tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default());
    tracing::subscriber::with_default(subscriber, || {
        tracing::info_span!("turn", key = SECRET).in_scope(|| {
            tracing::error!(
                url = "https://example.org/?k=tok-1234%2F%C3%A4",
                "it is {SECRET}"
            );
        });
    });
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    assert!(text.contains("it is [secret:token]"), "{text}");
    assert_eq!(text.matches("[secret:token]").count(), 3, "{text}");
    assert!(!text.contains("1234"), "{text}");
}

// M8: OpenTelemetry spans contain no secret.
#[cfg(feature = "otel")]
#[test]
fn spans_contain_no_secret() {
    use opentelemetry::trace::{Span, SpanContext, Status, Tracer, TracerProvider};
    use opentelemetry::{Array, KeyValue, Value};
    use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
    use std::time::UNIX_EPOCH;
    use tool_core::redact::RedactingExporter;

    let (shared, _lease) = shared();
    let pin = shared.add([("pin", SecretString::from("123456"))]).unwrap();
    let memory = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder()
        .with_simple_exporter(RedactingExporter::new(memory.clone(), shared))
        .build();
    let mut span = provider.tracer("test").start(format!("GET {SECRET}"));
    span.set_attribute(KeyValue::new("plain", SECRET));
    span.set_attribute(KeyValue::new(format!("key {SECRET}"), 1));
    span.set_attribute(KeyValue::new("number", 123_456));
    span.set_attribute(KeyValue::new(
        "list",
        Value::Array(Array::String(vec![SECRET.into(), "b".into()])),
    ));
    span.add_event(format!("event {SECRET}"), vec![KeyValue::new("in", SECRET)]);
    span.add_link(SpanContext::NONE, vec![KeyValue::new("link", SECRET)]);
    span.set_status(Status::error(format!("failed: {SECRET}")));
    span.end();
    drop(pin);
    let mut spans = memory.get_finished_spans().unwrap();
    // Random ids and times can contain the digits of a secret.
    for span in &mut spans {
        span.span_context = SpanContext::NONE;
        (span.start_time, span.end_time) = (UNIX_EPOCH, UNIX_EPOCH);
        for event in &mut span.events.events {
            event.timestamp = UNIX_EPOCH;
        }
    }
    let text = format!("{spans:?}");
    assert!(!text.contains("1234"), "{text}");
    assert_eq!(text.matches("[secret:token]").count(), 8, "{text}");
    assert!(text.contains("[secret:pin]"), "{text}");
    assert_eq!(spans[0].name, "GET [secret:token]");
}
