//! The warning about audit rows that were dropped.
//!
//! This test is a separate program: `tracing` caches for the whole process which callsites are enabled, so tests on other threads that set
//! and drop a subscriber could hide the warning.

#![cfg(feature = "host")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::sync::{Arc, Mutex};

use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditRow, AuditSink, Scope, StoreError, StoreFuture, Timestamp, Workspace,
};
use tool_core::{Audit, Gate};

/// Returns the number 1.
#[tool(read_only)]
fn look() -> u8 {
    1
}

/// A sink whose database is unavailable.
struct Away;

fn away<T>() -> StoreFuture<'static, T> {
    Box::pin(async { Err(StoreError::Unavailable("away".into())) })
}

impl AuditSink for Away {
    fn write(&self, _: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        away()
    }
    fn export<'a>(&'a self, _: Scope<'a>, _: &'a AuditFilter) -> StoreFuture<'a, Vec<AuditRow>> {
        away()
    }
    fn erase<'a>(&'a self, _: &'a Workspace, _: &'a str) -> StoreFuture<'a, u64> {
        away()
    }
    fn retain<'a>(&'a self, _: Scope<'a>, _: Timestamp) -> StoreFuture<'a, u64> {
        away()
    }
}

/// Collects the warnings of a test, each as `message field=value…`.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }
    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }
    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}
    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        struct Fields(String);
        impl tracing::field::Visit for Fields {
            fn record_debug(&mut self, field: &tracing::field::Field, value: &dyn std::fmt::Debug) {
                use std::fmt::Write as _;
                write!(self.0, " {field}={value:?}").unwrap();
            }
        }
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}

// S1-26: a warning counts the rows that were dropped (F4)
#[tokio::test(start_paused = true)]
async fn a_warning_counts_the_rows_that_were_dropped() {
    let warnings = Warnings::default();
    let _guard = tracing::subscriber::set_default(warnings.clone());
    let gate = Gate::builder().audit(Audit::best_effort(Away)).build();
    let tools = toolset![look].through(&gate);
    let cx = ToolContext::anonymous();
    for n in 0..600 {
        tools
            .call(ToolCall::new(format!("c-{n}"), "look", "{}"), &cx)
            .await;
    }
    let buffer = gate.audit().buffer().unwrap();
    assert!(buffer.flush().await.is_err());
    let warnings = warnings.0.lock().unwrap().clone();
    let mut dropped = warnings.iter().filter(|text| text.contains("dropped"));
    let last = dropped.next_back().expect("a warning");
    assert!(last.contains("dropped=100"), "{warnings:?}");
}
