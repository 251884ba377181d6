//! Callers that are dropped while their calls run on a database file.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, EffectLedger, EffectState, Scope};
use tool_core::{Audit, Effect, Gate};
use tool_store::SqliteStore;

/// The number of bodies that have begun, and the number that have returned.
#[derive(Clone, Default)]
struct Bodies {
    begun: Arc<AtomicUsize>,
    returned: Arc<AtomicUsize>,
}
tool_core::host_value!(Bodies, Effect::WRITE);

/// Sends a message in three steps.
#[tool]
async fn send_in_steps(bodies: &Bodies) -> u32 {
    bodies.begun.fetch_add(1, Ordering::SeqCst);
    for _ in 0..3 {
        tokio::time::sleep(Duration::from_micros(300)).await;
    }
    bodies.returned.fetch_add(1, Ordering::SeqCst);
    3
}

// After a call was dropped after 0 to 59 polls, its effect has failed if its body never began, is ambiguous if its body did not return, and has
// succeeded if its body returned. Each audit row has an outcome
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_call_is_ambiguous_only_while_its_body_runs() {
    let folder = tempfile::tempdir().unwrap();
    for polls in 0..60 {
        let file = folder.path().join(format!("{polls}.db"));
        let (store, bodies) = (SqliteStore::open(&file).await.unwrap(), Bodies::default());
        let gate = Gate::builder()
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .build();
        let tools = toolset![send_in_steps].through(&gate);
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .with(bodies.clone())
            .build();
        let mut call = Box::pin(tools.call(ToolCall::new("c", "send_in_steps", "{}"), &cx));
        for _ in 0..polls {
            if call
                .as_mut()
                .poll(&mut Context::from_waker(Waker::noop()))
                .is_ready()
            {
                break;
            }
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
        drop(call);
        gate.drain(Duration::from_secs(20)).await;
        assert_eq!(gate.running(), 0, "{polls}");

        let rows = EffectLedger::list(&store, Scope::All, None).await.unwrap();
        let begun = bodies.begun.load(Ordering::SeqCst);
        let returned = bodies.returned.load(Ordering::SeqCst);
        for row in &rows {
            let expected = match (begun, returned) {
                (0, _) => EffectState::Failed,
                (_, 0) => EffectState::Ambiguous,
                _ => EffectState::Succeeded,
            };
            assert_eq!(row.state, expected, "{polls}: {row:?}");
            assert!(row.result.is_some(), "{polls}: {row:?}");
        }
        assert!(begun == 0 || rows.len() == 1, "{polls}: {rows:?}");
        if returned == 1 {
            let result = rows[0].result.as_deref().unwrap();
            assert!(result.contains("output"), "{polls}: {result}");
        }
        for row in store
            .export(Scope::All, &AuditFilter::default())
            .await
            .unwrap()
        {
            assert!(row.outcome.is_some(), "{polls}: {row:?}");
        }
    }
}
