//! Retries of tool bodies by the gate.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditSink, EffectLedger, EffectState, MemoryStore, Resolution, Scope,
};
use tool_core::{Audit, Effect, ErrorKind, Gate, Retry, Uses};

use crate::support::{Mailbox, kind, placed};

/// Counts the attempts of a body, and sets how many of them fail.
#[derive(Clone, Default)]
struct Line {
    tries: Arc<AtomicUsize>,
    failures: usize,
    /// Whether the outer call hangs after its nested calls.
    hangs: bool,
}
tool_core::host_value!(Line, Effect::WRITE);

/// Sends a mail.
#[tool]
async fn send(mailbox: &Mailbox) -> usize {
    mailbox.send();
    mailbox.sent()
}

/// Fails in the first attempts.
#[tool]
async fn flaky(line: &Line) -> Result<usize, ToolError> {
    let tries = line.tries.fetch_add(1, Ordering::SeqCst) + 1;
    if tries <= line.failures {
        return Err(ToolError::new("the line is busy"));
    }
    Ok(tries)
}

/// Calls `send` and `flaky`.
#[tool(idempotent, timeout = "10s")]
async fn relay(#[context] uses: Uses<(send, flaky)>, line: &Line) -> Result<[usize; 2], ToolError> {
    let sent = uses.invoke(send {}).await?;
    let tries = uses.invoke(flaky {}).await?;
    if line.hangs {
        std::future::pending::<()>().await;
    }
    Ok([sent, tries])
}

fn host(store: &MemoryStore, attempts: u32) -> Gate {
    let retry = Retry {
        attempts,
        wait: Duration::from_millis(10),
    };
    Gate::builder()
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .retry(retry)
        .build()
}

fn cx(tools: &Toolset, mailbox: &Mailbox, line: &Line) -> ToolContext {
    let cx = ToolContext::builder().workspace("acme").user("ann");
    let cx = cx.conversation("th-1").tools(tools);
    placed(&cx.with(mailbox.clone()).with(line.clone()).build(), 0)
}

fn call(name: &str) -> ToolCall {
    ToolCall::new("c-1", name, "{}")
}

/// Returns the tool and the state of each effect, sorted.
async fn effects(store: &MemoryStore) -> Vec<(String, EffectState)> {
    let rows = EffectLedger::list(store, Scope::All, None).await.unwrap();
    let mut rows: Vec<_> = rows
        .into_iter()
        .map(|row| (row.intent.tool, row.state))
        .collect();
    rows.sort_by_key(|(tool, state)| (tool.clone(), state.as_str()));
    rows
}

/// Returns the tool and the outcome of each audit row, sorted.
async fn outcomes(store: &MemoryStore) -> Vec<(String, String)> {
    let rows = AuditSink::export(store, Scope::All, &AuditFilter::default()).await;
    let mut rows: Vec<_> = rows
        .unwrap()
        .into_iter()
        .map(|row| (row.tool, row.outcome.unwrap_or_default()))
        .collect();
    rows.sort();
    rows
}

fn words(rows: &[(String, String)]) -> Vec<(&str, &str)> {
    rows.iter().map(|(a, b)| (&**a, &**b)).collect()
}

// A body that runs again makes the same nested calls: the ledger returns the results of calls that took effect, and failed calls run again.
#[tokio::test(start_paused = true)]
async fn retry_repeats_no_nested_effect() {
    use EffectState::{Failed, Succeeded};

    let (store, mailbox) = (MemoryStore::default(), Mailbox::default());
    let line = Line {
        failures: 2,
        ..Line::default()
    };
    let tools = toolset![relay, send, flaky].through(&host(&store, 3));
    let result = tools
        .call(call("relay"), &cx(&tools, &mailbox, &line))
        .await;
    assert_eq!(result.model_text(), "[1,3]", "{result:?}");
    assert_eq!(mailbox.sent(), 1);
    let expected = [
        ("flaky", Failed),
        ("flaky", Failed),
        ("flaky", Succeeded),
        ("relay", Succeeded),
        ("send", Succeeded),
    ];
    let expected = expected.map(|(tool, state)| (tool.to_owned(), state));
    assert_eq!(effects(&store).await, expected);
    // The attempts of `relay` share one row, each nested `flaky` has its own row, and a `send` whose result the ledger returns has no row.
    let expected = [
        ("flaky", "failed"),
        ("flaky", "failed"),
        ("flaky", "ok"),
        ("relay", "ok"),
        ("send", "ok"),
    ];
    assert_eq!(words(&outcomes(&store).await), expected);
}

// The nested calls of a later attempt have the same identities in the next process that runs the outer call.
#[tokio::test(start_paused = true)]
async fn retried_nested_effects_are_known_to_the_next_process() {
    let (store, mailbox) = (MemoryStore::default(), Mailbox::default());
    let line = Line {
        failures: 1,
        hangs: true,
        ..Line::default()
    };
    let tools = toolset![relay, send, flaky].through(&host(&store, 2));
    let cut = tools
        .call(call("relay"), &cx(&tools, &mailbox, &line))
        .await;
    assert_eq!(kind(&cut), Some(ErrorKind::TimedOut), "{cut:?}");
    let gate = host(&store, 2);
    let tools = toolset![relay, send, flaky].through(&gate);
    let line = Line {
        hangs: false,
        ..line
    };
    let rows = EffectLedger::list(&store, Scope::All, Some(EffectState::Ambiguous)).await;
    let [row] = &rows.unwrap()[..] else { panic!() };
    let key = row.intent.identity.key();
    gate.resolve(&key, Resolution::Rerun, "olga").await.unwrap();
    let result = tools
        .call(call("relay"), &cx(&tools, &mailbox, &line))
        .await;
    assert_eq!(result.model_text(), "[1,2]", "{result:?}");
    assert_eq!((mailbox.sent(), line.tries.load(Ordering::SeqCst)), (1, 2));
}

/// Sends a mail and hangs in the first attempt. Later attempts send no mail, and fail if the line has failures.
#[tool(idempotent)]
async fn hang(mailbox: &Mailbox, line: &Line) -> Result<usize, ToolError> {
    if line.tries.fetch_add(1, Ordering::SeqCst) == 0 {
        mailbox.send();
        std::future::pending::<()>().await;
    }
    if line.failures > 0 {
        return Err(ToolError::new("the line is busy"));
    }
    Ok(mailbox.sent())
}

// If a hook interrupts an attempt and a later attempt fails, the call may have taken effect.
#[tokio::test(start_paused = true)]
async fn failure_after_an_interrupted_attempt_is_ambiguous() {
    for failures in [0, 1] {
        let (store, mailbox) = (MemoryStore::default(), Mailbox::default());
        let line = Line {
            failures,
            ..Line::default()
        };
        let gate = Gate::builder()
            .ledger(store.clone())
            .audit(Audit::required(store.clone()))
            .layer(tower::timeout::TimeoutLayer::new(Duration::from_secs(1)))
            .retry(Retry {
                attempts: 2,
                wait: Duration::from_millis(10),
            })
            .build();
        let tools = toolset![hang].through(&gate);
        let result = tools.call(call("hang"), &cx(&tools, &mailbox, &line)).await;
        let states = effects(&store).await;
        assert_eq!((states.len(), mailbox.sent()), (1, 1));
        if failures == 0 {
            assert_eq!(result.model_text(), "1", "{result:?}");
            assert_eq!(states[0].1, EffectState::Succeeded);
        } else {
            assert_eq!(kind(&result), Some(ErrorKind::Interrupted), "{result:?}");
            let text = result.model_text();
            assert!(text.contains("may have taken effect"), "{text}");
            assert!(text.contains("the line is busy"), "{text}");
            assert_eq!(states[0].1, EffectState::Ambiguous);
        }
    }
}
