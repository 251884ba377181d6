//! Span exporter that redacts secrets.

use std::borrow::Cow;
use std::time::Duration;

use opentelemetry::trace::Status;
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};

use super::{Redactor, SharedRedactor};

/// A span exporter that redacts secrets before it passes spans to another exporter: in the names of the span and its events, in the span's status,
/// and in the keys and values of the attributes of the span, its events and its links.
///
/// Without it, everything that the host's own code and its dependencies record in a span is exported unredacted. The spans of this crate
/// contain neither arguments nor results unless a host requests them.
///
/// ```
/// use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
/// use tool_core::redact::{RedactingExporter, SharedRedactor};
///
/// let shared = SharedRedactor::default();
/// let exporter = RedactingExporter::new(InMemorySpanExporter::default(), shared.clone());
/// let provider = SdkTracerProvider::builder().with_simple_exporter(exporter).build();
/// # let _ = provider;
/// ```
///
/// A batching provider exports later: keep the [`Lease`](super::Lease) of a turn's secrets until then.
#[derive(Debug)]
pub struct RedactingExporter<E> {
    inner: E,
    shared: SharedRedactor,
}

impl<E> RedactingExporter<E> {
    /// Creates an exporter that redacts spans and passes them to `inner`.
    pub fn new(inner: E, shared: SharedRedactor) -> Self {
        Self { inner, shared }
    }
}

impl<E: SpanExporter> SpanExporter for RedactingExporter<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        let redactor = self.shared.current();
        if !redactor.is_empty() {
            for span in &mut batch {
                mask(&redactor, span);
            }
        }
        self.inner.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

fn mask(redactor: &Redactor, span: &mut SpanData) {
    text(redactor, &mut span.name);
    if let Status::Error { description } = &mut span.status {
        text(redactor, description);
    }
    attributes(redactor, &mut span.attributes);
    for event in &mut span.events.events {
        text(redactor, &mut event.name);
        attributes(redactor, &mut event.attributes);
    }
    for link in &mut span.links.links {
        attributes(redactor, &mut link.attributes);
    }
}

fn text(redactor: &Redactor, text: &mut Cow<'static, str>) {
    if let Cow::Owned(masked) = redactor.redact(text) {
        *text = Cow::Owned(masked);
    }
}

fn attributes(redactor: &Redactor, attributes: &mut [KeyValue]) {
    for attribute in attributes {
        if let Cow::Owned(masked) = redactor.redact(attribute.key.as_str()) {
            attribute.key = masked.into();
        }
        match &mut attribute.value {
            Value::String(value) => string(redactor, value),
            Value::Array(Array::String(values)) => {
                for value in values {
                    string(redactor, value);
                }
            }
            // A secret may consist of digits alone.
            other => {
                if let Cow::Owned(masked) = redactor.redact(&other.as_str()) {
                    *other = Value::String(masked.into());
                }
            }
        }
    }
}

fn string(redactor: &Redactor, value: &mut StringValue) {
    if let Cow::Owned(masked) = redactor.redact(value.as_str()) {
        *value = masked.into();
    }
}
