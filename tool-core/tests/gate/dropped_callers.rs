//! Callers that drop a call after any number of polls.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, EffectLedger, EffectState, MemoryStore, Scope};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_core::{Audit, Effect, Gate};

/// The number of bodies that have begun, and the number that have returned.
#[derive(Clone, Default)]
struct Bodies {
    begun: Arc<AtomicUsize>,
    returned: Arc<AtomicUsize>,
}
tool_core::host_value!(Bodies, Effect::WRITE);

/// Sends a message in several steps.
#[tool]
async fn send_in_steps(
    bodies: &Bodies,
    /// The number of steps.
    steps: u32,
) -> u32 {
    bodies.begun.fetch_add(1, Ordering::SeqCst);
    for _ in 0..steps {
        tokio::task::yield_now().await;
    }
    bodies.returned.fetch_add(1, Ordering::SeqCst);
    steps
}

/// Polls a call at most `polls` times and drops it. Returns whether the call ended. Other tasks run between the polls.
async fn dropped_after(call: impl Future<Output = CallResult>, polls: usize) -> bool {
    let mut call = Box::pin(call);
    for _ in 0..polls {
        let mut cx = Context::from_waker(Waker::noop());
        if call.as_mut().poll(&mut cx).is_ready() {
            return true;
        }
        tokio::task::yield_now().await;
    }
    false
}

// The effect of a dropped call is failed if the body never began, ambiguous if the body was interrupted, and succeeded if the body returned
#[tokio::test]
async fn dropped_call_is_ambiguous_only_while_its_body_runs() {
    for steps in [0, 3] {
        for polls in 0..40 {
            let (store, bodies) = (MemoryStore::default(), Bodies::default());
            let slow = crate::slow::Slow::new(store.clone(), 3);
            let gate = Gate::builder()
                .ledger(slow.clone())
                .audit(Audit::required(slow))
                .build();
            let tools = toolset![send_in_steps].through(&gate);
            let cx = ToolContext::builder()
                .workspace("acme")
                .user("ann")
                .with(bodies.clone())
                .build();
            let arguments = format!(r#"{{"steps":{steps}}}"#);
            let call = ToolCall::new("call_0", "send_in_steps", arguments);
            let ended = dropped_after(tools.call(call, &cx), polls).await;
            gate.drain(Duration::from_secs(5)).await;
            assert_eq!(gate.running(), 0, "{polls}");

            let rows = EffectLedger::list(&store, Scope::All, None).await.unwrap();
            let begun = bodies.begun.load(Ordering::SeqCst);
            let returned = bodies.returned.load(Ordering::SeqCst);
            let expected = match (begun, returned) {
                (0, _) => EffectState::Failed,
                (_, 0) => EffectState::Ambiguous,
                _ => EffectState::Succeeded,
            };
            for row in &rows {
                assert_eq!(
                    row.state, expected,
                    "{polls} polls of {steps} steps: {row:?}"
                );
                assert!(row.result.is_some(), "{polls}: {row:?}");
            }
            if returned == 1 {
                let result = rows[0].result.as_deref().unwrap();
                assert!(result.contains("output"), "{polls}: {result}");
            }
            assert!(begun == 0 || rows.len() == 1, "{polls}: {rows:?}");
            assert!(!ended || returned == 1, "{polls}");
            let audit = store
                .export(Scope::All, &AuditFilter::default())
                .await
                .unwrap();
            assert!(
                audit.len() <= 1 && (polls == 0 || audit.len() == 1),
                "{polls}"
            );
            for row in audit {
                assert!(row.outcome.is_some(), "{polls}: {row:?}");
            }
        }
    }
}

// A turn that is dropped before the body of its call begins, for example because its driver lost the lease, leaves the call open, also after its
// row was written. The next driver makes the call.
#[tokio::test]
async fn call_that_was_dropped_before_its_body_is_made_by_the_next_driver() {
    let mut recorded = 0;
    for polls in 0..40 {
        let (store, bodies) = (MemoryStore::default(), Bodies::default());
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("main")
            .with(bodies.clone())
            .build();
        let start = || {
            let slow = crate::slow::Slow::new(store.clone(), 3);
            let gate = Gate::builder()
                .ledger(slow.clone())
                .audit(Audit::required(slow))
                .build();
            let tools = toolset![send_in_steps].through(&gate);
            (tools, gate, Turns::new(store.clone()))
        };
        let (tools, gate, turns) = start();
        let call = ToolCall::new("call_0", "send_in_steps", r#"{"steps":3}"#);
        let message = turns.record(ModelMessage::calls([call]), &cx).await;
        let message = message.unwrap();
        let mut run = Box::pin(turns.run(&tools, &message, &cx));
        for _ in 0..polls {
            let mut task = Context::from_waker(Waker::noop());
            if run.as_mut().poll(&mut task).is_ready() {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(run);
        while gate.running() > 0 {
            tokio::task::yield_now().await;
        }
        gate.drain(Duration::from_secs(5)).await;
        let begun = bodies.begun.load(Ordering::SeqCst);
        let returned = bodies.returned.load(Ordering::SeqCst);

        let (tools, _gate, turns) = start();
        // The end of the dropped run is written in the background.
        let turn = loop {
            match turns.run(&tools, &message, &cx).await.unwrap() {
                Turn::Busy(_) => tokio::task::yield_now().await,
                turn => break turn,
            }
        };
        if begun > returned {
            assert!(matches!(turn, Turn::Unsettled(_)), "{polls}: {turn:?}");
            continue;
        }
        recorded += usize::from(begun == 0);
        let Turn::Complete(results) = turn else {
            panic!("{polls}: {turn:?}");
        };
        assert_eq!(results[0].text, "3", "{polls}");
        assert_eq!(bodies.returned.load(Ordering::SeqCst), 1, "{polls}");
        let audit = store.export(Scope::All, &AuditFilter::default()).await;
        let audit = audit.unwrap();
        assert!(audit.len() == 1 && audit[0].outcome.is_some(), "{audit:?}");
    }
    assert!(
        recorded > 3,
        "the turn was dropped before the body: {recorded}"
    );
}

/// Fails in its first two attempts.
#[tool(idempotent)]
async fn try_again(bodies: &Bodies) -> Result<u32, ToolError> {
    if bodies.begun.fetch_add(1, Ordering::SeqCst) < 2 {
        return Err(ToolError::new("not yet"));
    }
    Ok(7)
}

// All attempts of a call share one row
#[tokio::test(start_paused = true)]
async fn retries_share_one_row() {
    let (store, bodies) = (MemoryStore::default(), Bodies::default());
    let retry = tool_core::Retry {
        attempts: 3,
        ..tool_core::Retry::default()
    };
    let gate = Gate::builder().ledger(store.clone()).retry(retry).build();
    let tools = toolset![try_again].through(&gate);
    let cx = ToolContext::builder().with(bodies.clone()).build();
    let result = tools.call(ToolCall::new("c", "try_again", "{}"), &cx).await;
    assert_eq!(result.model_text(), "7");
    let rows = EffectLedger::list(&store, Scope::All, None).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].state, EffectState::Succeeded);
}

// When a runtime shuts down, nothing panics, and the call counts as interrupted
#[test]
fn runtime_shutdown_counts_as_an_interrupted_call() {
    let (store, bodies) = (MemoryStore::default(), Bodies::default());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let gate = Gate::builder().ledger(store.clone()).build();
    let tools = toolset![send_in_steps].through(&gate);
    let cx = ToolContext::builder().with(bodies.clone()).build();
    let call = ToolCall::new("c", "send_in_steps", r#"{"steps":4000000}"#);
    let mut call = Box::pin(tools.call(call, &cx));
    {
        let _inside = runtime.enter();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut cx).is_pending());
    }
    runtime.shutdown_timeout(Duration::from_secs(5));
    let mut cx = Context::from_waker(Waker::noop());
    let std::task::Poll::Ready(result) = call.as_mut().poll(&mut cx) else {
        panic!("the call still waits after its runtime was shut down");
    };
    assert_eq!(
        result.error().map(ToolError::kind),
        Some(tool_core::ErrorKind::Interrupted)
    );
    assert_eq!(gate.running(), 0);
}

/// Sends a message, and waits until it is cancelled.
#[tool]
async fn send_and_hang(bodies: &Bodies) -> u32 {
    bodies.begun.fetch_add(1, Ordering::SeqCst);
    std::future::pending().await
}

// The refusal of a call reports that an earlier run of the call may have had an effect
#[tokio::test(start_paused = true)]
async fn denied_call_reports_possible_effects_of_its_earlier_run() {
    let (store, bodies) = (MemoryStore::default(), Bodies::default());
    let policy = tool_core::policy::SharedPolicy::default();
    let gate = Gate::builder().ledger(store.clone()).build();
    let registry = Registry::builder().tool::<send_and_hang>().build().unwrap();
    let rules = tool_core::Rules::default().policy(&policy);
    let context = || {
        let cx = ToolContext::builder().workspace("acme").user("ann");
        cx.conversation("main").with(bodies.clone())
    };
    let cx = crate::support::placed(&context().deadline(Duration::from_secs(1)).build(), 0);
    let call = || ToolCall::new("call_0", "send_and_hang", "{}");
    let tools = registry.toolset(&cx, &rules).through(&gate);
    assert!(tools.call(call(), &cx).await.is_error());
    assert_eq!(bodies.begun.load(Ordering::SeqCst), 1);

    let again = crate::support::placed(&context().build(), 0);
    let changes: [&dyn Fn(); 2] = [
        &|| {
            policy.kill("send_and_hang", None);
        },
        &|| {
            policy.revive("send_and_hang", None);
            let deny = tool_core::policy::Rule::deny("no").tools(["send_and_hang"]);
            let denying = tool_core::policy::Policy::builder().rule(deny).build();
            policy.replace(denying.unwrap());
        },
    ];
    for change in changes {
        change();
        let result = tools.call(call(), &again).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), tool_core::ErrorKind::Interrupted, "{error:?}");
        assert!(error.model_text().contains("may have taken effect"));
    }
    // The refusal of a call that never ran reports no possible effect.
    let fresh = crate::support::placed(&context().build(), 1);
    let result = tools.call(call(), &fresh).await;
    assert!(!result.model_text().contains("may have taken effect"));
    assert_eq!(bodies.begun.load(Ordering::SeqCst), 1);
}
