//! The effect ledger: no effect happens twice, and no effect is recorded that did not happen.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use tool_core::prelude::*;
use tool_core::store::{
    CallKey, EffectLedger, EffectRow, EffectState, MemoryStore, Resolution, Scope, Workspace,
};
use tool_core::{ErrorKind, Gate, Retry};

use crate::support::{Mailbox, kind, placed};

/// Sends a letter.
#[tool]
async fn post(
    mailbox: &Mailbox,
    cx: &ToolContext,
    /// The outcome of the call: `well`, `fails`, `panics`, `hangs`, `long` or `slow`.
    way: String,
) -> Result<String, ToolError> {
    mailbox.send();
    match way.as_str() {
        "fails" => Err(ToolError::new("the post office is closed")),
        "panics" => panic!("the letter burns"),
        "hangs" => std::future::pending().await,
        "long" => {
            tokio::time::sleep(Duration::from_millis(1200)).await;
            Ok("at last".to_owned())
        }
        "slow" => {
            tokio::time::sleep(Duration::from_millis(150)).await;
            Ok("late".to_owned())
        }
        _ => Ok(cx
            .idempotency_key()
            .map_or_else(String::new, |key| key.as_str().to_owned())),
    }
}

/// Looks out of the window.
#[tool(read_only)]
async fn look(window: &Window) -> usize {
    window.0.sent()
}

/// A view of the mailbox that cannot post.
#[derive(Clone)]
struct Window(Mailbox);
tool_core::host_value!(Window, tool_core::Effect::READ);

struct EffectHost {
    store: MemoryStore,
    gate: Gate,
    mailbox: Mailbox,
    tools: Toolset,
}

impl EffectHost {
    fn new() -> Self {
        Self::with(Duration::from_secs(30))
    }

    fn with(lease: Duration) -> Self {
        let store = MemoryStore::default();
        let gate = Gate::builder().ledger(store.clone()).lease(lease).build();
        Self {
            tools: toolset![post, look].through(&gate),
            store,
            gate,
            mailbox: Mailbox::default(),
        }
    }

    fn cx(&self) -> tool_core::ToolContextBuilder {
        ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("th-1")
            .with(self.mailbox.clone())
            .with(Window(self.mailbox.clone()))
    }

    /// Posts a letter. The call `c-3` has position 3 in its message; a call without a conversation is in no thread.
    async fn post(&self, id: &str, way: &str, cx: &ToolContext) -> CallResult {
        let cx = match (cx.thread(), id.strip_prefix("c-")) {
            (Some(_), Some(position)) => placed(cx, position.parse().unwrap()),
            _ => cx.clone(),
        };
        let arguments = serde_json::json!({ "way": way }).to_string();
        self.tools
            .call(ToolCall::new(id, "post", arguments), &cx)
            .await
    }

    async fn rows(&self) -> Vec<EffectRow> {
        EffectLedger::list(&self.store, Scope::Workspace(&Workspace::new("acme")), None)
            .await
            .unwrap()
    }

    async fn only(&self) -> EffectRow {
        let mut rows = self.rows().await;
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows.remove(0)
    }
}

// M6: an effect is recorded, and its repetition returns the stored result.
#[tokio::test]
async fn repeated_effect_returns_the_recorded_result() {
    let office = EffectHost::new();
    let cx = office.cx().build();
    let first = office.post("c-1", "well", &cx).await;
    let row = office.only().await;
    assert_eq!(row.state, EffectState::Succeeded);
    assert_eq!(
        first.model_text(),
        row.intent.identity.key().as_str(),
        "the tool received the key"
    );
    assert_eq!(
        (row.intent.tool.as_str(), row.intent.principal.as_str()),
        ("post", "ann")
    );

    let again = office.post("c-1", "well", &cx).await;
    assert!(again.is_replayed() && !first.is_replayed());
    assert_eq!(again.model_text(), first.model_text());
    assert_eq!(office.mailbox.sent(), 1);

    // A different call, a different conversation and a different workspace each have their own effects.
    office.post("c-2", "well", &cx).await;
    office
        .post("c-1", "well", &office.cx().conversation("th-2").build())
        .await;
    office
        .post("c-1", "well", &office.cx().workspace("globex").build())
        .await;
    assert_eq!(office.mailbox.sent(), 4);

    // A call with different arguments under the same identity is not a repetition.
    let other = office.post("c-1", "slow", &cx).await;
    assert_eq!(kind(&other), Some(ErrorKind::Denied));
    assert!(
        other
            .model_text()
            .contains("with a different tool, arguments or caller")
    );
    assert_eq!(office.mailbox.sent(), 4);
}

// M6: a call that only reads writes no row.
#[tokio::test]
async fn read_only_call_writes_no_ledger_row() {
    let office = EffectHost::new();
    let cx = office.cx().build();
    office
        .tools
        .call(ToolCall::new("c-1", "look", "{}"), &cx)
        .await;
    assert!(office.rows().await.is_empty());
}

// M6: without a conversation, every call is a new call.
#[tokio::test]
async fn calls_without_a_conversation_are_never_deduplicated() {
    let office = EffectHost::new();
    let cx = ToolContext::builder()
        .workspace("acme")
        .with(office.mailbox.clone())
        .build();
    office.post("call_0", "well", &cx).await;
    office.post("call_0", "well", &cx).await;
    assert_eq!(office.mailbox.sent(), 2, "calls with equal ids both run");
}

// M6: a call whose tool returns an error has failed.
#[tokio::test]
async fn tool_error_marks_the_effect_as_failed() {
    let office = EffectHost::new();
    let cx = office.cx().build();
    office.post("c-1", "fails", &cx).await;
    assert_eq!(office.only().await.state, EffectState::Failed);
    let again = office.post("c-1", "fails", &cx).await;
    assert!(again.is_replayed());
    assert_eq!(
        (again.model_text().as_str(), office.mailbox.sent()),
        ("the post office is closed", 1)
    );
}

// M6: an interrupted effect is ambiguous and not repeated.
#[tokio::test(start_paused = true)]
async fn interrupted_effect_is_ambiguous_and_not_repeated() {
    for way in ["panics", "deadline", "cancel", "dropped"] {
        let office = EffectHost::new();
        let cx = office.cx().build();
        match way {
            "panics" => {
                assert_eq!(
                    kind(&office.post("c-1", "panics", &cx).await),
                    Some(ErrorKind::Panicked)
                );
            }
            "deadline" => {
                let cx = office.cx().deadline(Duration::from_secs(2)).build();
                let result = office
                    .tools
                    .call(
                        ToolCall::new("c-1", "post", r#"{"way":"hangs"}"#),
                        &placed(&cx, 1),
                    )
                    .await;
                assert_eq!(kind(&result), Some(ErrorKind::TimedOut));
            }
            "cancel" => {
                let token = tool_core::CancellationToken::new();
                let cx = office.cx().cancellation(token.clone()).build();
                let mut call = Box::pin(office.post("c-1", "hangs", &cx));
                assert!(
                    call.as_mut()
                        .poll(&mut Context::from_waker(Waker::noop()))
                        .is_pending()
                );
                token.cancel();
                assert_eq!(kind(&call.await), Some(ErrorKind::Cancelled));
            }
            _ => {
                let mut call = Box::pin(office.post("c-1", "hangs", &cx));
                assert!(
                    call.as_mut()
                        .poll(&mut Context::from_waker(Waker::noop()))
                        .is_pending()
                );
                drop(call);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
        assert_eq!(office.only().await.state, EffectState::Ambiguous, "{way}");
        assert_eq!(office.mailbox.sent(), 1);
        let state = if way == "panics" { "panics" } else { "hangs" };
        let again = office.post("c-1", state, &cx).await;
        assert_eq!(kind(&again), Some(ErrorKind::Interrupted), "{way}");
        assert_eq!(office.mailbox.sent(), 1, "{way}");
    }
}

// M6: a call whose body never began has failed.
#[tokio::test]
async fn a_call_that_never_began_has_failed() {
    let office = EffectHost::new();
    let cx = office.cx().deadline(Duration::ZERO).build();
    assert_eq!(
        kind(&office.post("c-1", "well", &cx).await),
        Some(ErrorKind::TimedOut)
    );
    assert_eq!(office.only().await.state, EffectState::Failed);
    assert_eq!(office.mailbox.sent(), 0);
}

// M6: an operator settles an ambiguous effect.
#[tokio::test(start_paused = true)]
async fn operator_settles_an_ambiguous_effect() {
    let office = EffectHost::new();
    let late = || office.cx().deadline(Duration::from_secs(1)).build();
    let cx = office.cx().build();
    for id in ["c-1", "c-2", "c-3"] {
        office.post(id, "hangs", &late()).await;
    }
    let rows = office.rows().await;
    let key = |call: &str| -> CallKey {
        rows.iter()
            .find(|row| row.intent.call == call)
            .unwrap()
            .intent
            .identity
            .key()
    };

    office
        .gate
        .resolve(
            &key("c-1"),
            Resolution::Succeeded(r#""arrived""#.to_owned()),
            "olga",
        )
        .await
        .unwrap();
    assert_eq!(
        office.post("c-1", "hangs", &cx).await.model_text(),
        "arrived"
    );
    office
        .gate
        .resolve(
            &key("c-2"),
            Resolution::Failed("it was lost".to_owned()),
            "olga",
        )
        .await
        .unwrap();
    let lost = office.post("c-2", "hangs", &cx).await;
    assert_eq!(
        (kind(&lost), lost.model_text().as_str()),
        (Some(ErrorKind::Failed), "it was lost")
    );
    assert_eq!(office.mailbox.sent(), 3);
    office
        .gate
        .resolve(&key("c-3"), Resolution::Rerun, "olga")
        .await
        .unwrap();
    office.post("c-3", "hangs", &late()).await;
    assert_eq!(office.mailbox.sent(), 4);
    assert_eq!(
        office
            .rows()
            .await
            .iter()
            .find(|row| row.intent.call == "c-3")
            .unwrap()
            .attempt,
        2
    );

    let settled = office
        .gate
        .resolve(&key("c-1"), Resolution::Rerun, "olga")
        .await
        .unwrap_err();
    assert!(
        settled.operator_text().contains("ambiguous") || settled.model_text().contains("ambiguous"),
        "{settled:?}"
    );
    let wrong = office
        .gate
        .resolve(&key("c-3"), Resolution::Succeeded("{".to_owned()), "olga")
        .await
        .unwrap_err();
    assert!(wrong.model_text().contains("not JSON"), "{wrong}");
}

// M6: a long run renews its lease, so its end is not marked as late.
#[tokio::test]
async fn long_run_renews_its_lease() {
    let office = EffectHost::with(Duration::from_millis(800));
    let result = office.post("c-1", "long", &office.cx().build()).await;
    assert_eq!(result.model_text(), "at last");
    let row = office.only().await;
    assert_eq!(
        (row.state, row.late),
        (EffectState::Succeeded, false),
        "the lease was renewed during the run"
    );
}

// M6: two concurrent dispatches of the same call run it once.
#[tokio::test]
async fn concurrent_dispatches_of_one_call_run_it_once() {
    let office = Arc::new(EffectHost::new());
    let cx = office.cx().build();
    let (first, second) = futures::future::join(
        office.post("c-1", "slow", &cx),
        office.post("c-1", "slow", &cx),
    )
    .await;
    assert_eq!(office.mailbox.sent(), 1);
    assert_eq!(first.model_text(), "late");
    assert_eq!(kind(&second), Some(ErrorKind::Interrupted));
    assert!(second.model_text().contains("already running"));
}

static TRIES: AtomicUsize = AtomicUsize::new(0);

/// Succeeds in the third attempt.
#[tool(read_only)]
async fn shaky() -> Result<usize, ToolError> {
    match TRIES.fetch_add(1, Ordering::SeqCst) {
        tries @ 0..=1 => Err(ToolError::new(format!("not yet, {tries}"))),
        tries => Ok(tries),
    }
}

#[tokio::test(start_paused = true)]
async fn only_idempotent_calls_are_retried() {
    let retry = Retry {
        attempts: 3,
        wait: Duration::from_millis(50),
    };
    let gate = Gate::builder().retry(retry).build();
    let tools = toolset![shaky, post].through(&gate);
    let result = tools
        .call(
            ToolCall::new("c-1", "shaky", "{}"),
            &ToolContext::anonymous(),
        )
        .await;
    assert_eq!(result.model_text(), "2");

    let mailbox = Mailbox::default();
    let cx = ToolContext::builder().with(mailbox.clone()).build();
    tools
        .call(ToolCall::new("c-2", "post", r#"{"way":"fails"}"#), &cx)
        .await;
    assert_eq!(mailbox.sent(), 1);
}

// S2-07: a typed call passes the same gate.
#[tokio::test]
async fn a_typed_call_passes_the_same_gate() {
    let office = EffectHost::new();
    let cx = office.cx().build();
    let way = "well".to_owned();
    let key = office.tools.invoke(post { way }, &cx).await.unwrap();
    assert_eq!(office.only().await.intent.identity.key().as_str(), key);
    let sent = office.tools.invoke(look {}, &cx).await.unwrap();
    assert_eq!(sent, 1);
    assert_eq!(office.gate.drain(Duration::from_millis(10)).await, 0);
    let error = office.tools.invoke(look {}, &cx).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
}

// M6: a host that drains waits for running calls, then cancels them.
#[tokio::test]
async fn drain_waits_for_calls_and_then_cancels_them() {
    let office = Arc::new(EffectHost::new());
    let run = |id: &'static str, way: &'static str| {
        let office = Arc::clone(&office);
        tokio::spawn(async move { office.post(id, way, &office.cx().build()).await })
    };
    let (slow, hangs) = (run("c-1", "slow"), run("c-2", "hangs"));
    while office.gate.running() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(office.gate.drain(Duration::from_millis(400)).await, 1);
    assert_eq!(slow.await.unwrap().model_text(), "late");
    assert_eq!(kind(&hangs.await.unwrap()), Some(ErrorKind::Cancelled));
    let mut rows = office.rows().await;
    rows.sort_by(|a, b| a.intent.call.cmp(&b.intent.call));
    let states: Vec<_> = rows.iter().map(|row| row.state).collect();
    assert_eq!(states, [EffectState::Succeeded, EffectState::Ambiguous]);
    assert_eq!(office.gate.running(), 0);
}

// An effect whose result was erased keeps its row and is not repeated.
#[tokio::test]
async fn call_whose_result_was_erased_is_not_repeated() {
    let office = EffectHost::new();
    let cx = office.cx().conversation("th-1").build();
    let cx = placed(&cx, 0);
    let posted = ToolCall::new("c", "post", r#"{"way":"well"}"#);
    assert!(!office.tools.call(posted.clone(), &cx).await.is_error());
    let thread = cx.thread().unwrap();
    let erased = tool_core::store::Erasure::Thread(&thread);
    let erased = tool_core::store::Maintenance::erase_contents(&office.store, erased);
    assert_eq!(erased.await.unwrap().effects, 1);
    let again = office.tools.call(posted, &cx).await;
    assert!(again.model_text().contains("was erased"), "{again:?}");
    assert_eq!(office.mailbox.sent(), 1);
}
