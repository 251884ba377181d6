//! The outcome in the ledger and for the model, if a step before or after the body fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use futures::future::BoxFuture;
use tool_core::policy::{Policy, SharedPolicy};
use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditRow, AuditSink, Begun, CallKey, EffectEnd, EffectLedger, EffectRow,
    EffectState, Ended, Intent, MemoryStore, Resolution, Scope, StoreFuture, Timestamp, Workspace,
};
use tool_core::{
    Audit, Disables, DynamicTool, Effect, ErrorKind, Gate, Permitted, Ran, Rules, Uses,
};
use tower::{BoxError, Layer, Service};

use crate::support::{Host, Mailbox, placed, send_mail, ticket};

/// Sends a message, and returns a long text.
#[tool(output_limit = 10)]
async fn send_long(mailbox: &Mailbox) -> String {
    mailbox.send();
    "x".repeat(100)
}

/// Sends a message.
#[tool]
async fn send(mailbox: &Mailbox) -> u8 {
    mailbox.send();
    1
}

/// Sends a message, and can be repeated.
#[tool(idempotent)]
async fn put(mailbox: &Mailbox) -> u8 {
    mailbox.send();
    1
}

/// Sends a message, and returns a value whose view for the model panics.
#[tool]
async fn send_unseen(mailbox: &Mailbox) -> Unseen {
    mailbox.send();
    Unseen { number: 1 }
}

#[derive(Serialize, StrictSchema)]
struct Unseen {
    /// The number of the message.
    number: u8,
}

impl ToModelOutput for Unseen {
    fn to_model_output(&self) -> ModelOutput {
        std::panic::resume_unwind(Box::new("no view"))
    }
}

/// A layer that fails or panics after the run.
#[derive(Clone)]
struct Broken<S> {
    inner: S,
    panics: bool,
}

#[derive(Clone)]
struct Breaking {
    panics: bool,
}

impl<S> Layer<S> for Breaking {
    type Service = Broken<S>;
    fn layer(&self, inner: S) -> Broken<S> {
        let panics = self.panics;
        Broken { inner, panics }
    }
}

impl<S> Service<Permitted> for Broken<S>
where
    S: Service<Permitted, Response = Ran, Error = BoxError>,
    S::Future: Send + 'static,
{
    type Response = Ran;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Ran, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, permitted: Permitted) -> Self::Future {
        let (run, panics) = (self.inner.call(permitted), self.panics);
        Box::pin(async move {
            run.await?;
            if panics {
                std::panic::resume_unwind(Box::new("a hook with a fault"));
            }
            Err("the hook failed".into())
        })
    }
}

async fn states(store: &MemoryStore) -> Vec<EffectState> {
    let rows = EffectLedger::list(store, Scope::All, None).await.unwrap();
    rows.iter().map(|row| row.state).collect()
}

fn call(name: &str) -> ToolCall {
    ToolCall::new("call_0", name, "{}")
}

/// Asserts that a call whose body took effect reports this, is stored as succeeded, and does not run again.
async fn took_effect(host: &Host, tools: &Toolset, name: &str) {
    let cx = placed(&host.ann(), 0);
    let result = tools.call(call(name), &cx).await;
    assert!(result.is_error(), "{name}: {result:?}");
    let text = result.model_text();
    assert!(text.contains("took effect"), "{name}: {text}");
    assert!(text.contains("do not call it again"), "{name}: {text}");
    assert_eq!(host.mailbox.sent(), 1, "{name}");
    assert_eq!(
        states(&host.store).await,
        [EffectState::Succeeded],
        "{name}"
    );
    let again = tools.call(call(name), &cx).await;
    assert!(again.is_replayed(), "{name}");
    assert_eq!(again.model_text(), text, "{name}");
    assert_eq!(host.mailbox.sent(), 1, "{name}");
}

// A body that returned an output has succeeded, even if a later step fails
#[tokio::test]
async fn effect_is_recorded_when_its_output_is_lost() {
    for name in ["send_long", "send_unseen"] {
        let host = Host::new();
        let gate = Gate::builder().ledger(host.store.clone()).build();
        let tools = toolset![send_long, send_unseen].through(&gate);
        took_effect(&host, &tools, name).await;
    }
    for panics in [false, true] {
        for name in ["send", "put"] {
            let host = Host::new();
            let gate = Gate::builder()
                .ledger(host.store.clone())
                .retry(tool_core::Retry {
                    attempts: 3,
                    ..tool_core::Retry::default()
                })
                .layer(Breaking { panics })
                .build();
            let tools = toolset![send, put].through(&gate);
            took_effect(&host, &tools, name).await;
        }
    }
}

// An effect is recorded as succeeded although the output does not match the dynamic tool's output schema
#[tokio::test]
async fn effect_is_recorded_when_its_output_violates_the_schema() {
    let host = Host::new();
    let schema = serde_json::json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let output = serde_json::json!({"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"], "additionalProperties": false});
    let mailbox = host.mailbox.clone();
    let tool = DynamicTool::new(
        "pay_remote",
        "Pays.",
        schema,
        move |_: serde_json::Value, _| {
            mailbox.send();
            async { Ok::<_, ToolError>(serde_json::json!({"id": "seven"})) }
        },
    )
    .effect(Effect::WRITE)
    .output_schema(&output);
    let registry = Registry::builder().dynamic(tool).build().unwrap();
    let gate = Gate::builder().ledger(host.store.clone()).build();
    let tools = registry.open().through(&gate);
    took_effect(&host, &tools, "pay_remote").await;
}

/// A store that panics at the steps whose flags are set.
#[derive(Clone, Default)]
struct Panics {
    store: MemoryStore,
    begin: Arc<AtomicBool>,
    end: Arc<AtomicBool>,
    write: Arc<AtomicBool>,
    resolve: Arc<AtomicBool>,
}

fn fault(flag: &AtomicBool) {
    if flag.load(Ordering::SeqCst) {
        std::panic::resume_unwind(Box::new("a store with a fault"));
    }
}

impl EffectLedger for Panics {
    fn is_durable(&self) -> bool {
        false
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        fault(&self.begin);
        self.store.begin(intent, audit)
    }
    fn end<'a>(
        &'a self,
        key: &'a CallKey,
        owner: &'a str,
        end: EffectEnd,
    ) -> StoreFuture<'a, Ended> {
        Box::pin(async move {
            fault(&self.end);
            EffectLedger::end(&self.store, key, owner, end).await
        })
    }
    fn resolve<'a>(
        &'a self,
        key: &'a CallKey,
        resolution: Resolution,
        operator: &'a str,
        now: Timestamp,
    ) -> StoreFuture<'a, EffectRow> {
        fault(&self.resolve);
        self.store.resolve(key, resolution, operator, now)
    }
    pass_on!(self => self.store; renew get sweep list);
}

impl AuditSink for Panics {
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        fault(&self.write);
        self.store.write(rows)
    }
    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        self.store.export(scope, filter)
    }
    fn erase<'a>(&'a self, workspace: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        AuditSink::erase(&self.store, workspace, principal)
    }
    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        self.store.retain(scope, since)
    }
}

// A panic of a store before the body is an error result; a panic after the body does not change the result
#[tokio::test]
async fn panic_of_a_store_is_an_error_result() {
    for (at, ran) in [("begin", 0), ("end", 1), ("write", 0)] {
        let (host, panics) = (Host::new(), Panics::default());
        let gate = Gate::builder()
            .ledger(panics.clone())
            .audit(Audit::required(panics.clone()))
            .build();
        let tools = toolset![send].through(&gate);
        let flag = match at {
            "begin" => &panics.begin,
            "end" => &panics.end,
            _ => &panics.write,
        };
        flag.store(true, Ordering::SeqCst);
        let result = tools.call(call("send"), &host.ann()).await;
        assert_eq!(host.mailbox.sent(), ran, "{at}");
        assert_eq!(result.is_error(), ran == 0, "{at}: {result:?}");
    }
}

/// Calls a tool that needs an approval.
#[tool]
async fn relay_mail(#[context] uses: Uses<(send_mail,)>) -> Result<String, ToolError> {
    let (to, copies) = ("bob".to_owned(), 1);
    uses.invoke(send_mail { to, copies }).await
}

// A call that only waits is not ambiguous, even if the store panics when it settles effects
#[tokio::test]
async fn waiting_outer_call_is_not_ambiguous_after_a_store_failure() {
    let (host, panics) = (Host::new(), Panics::default());
    panics.resolve.store(true, Ordering::SeqCst);
    let gate = Gate::builder()
        .approvals(host.approvals().clone())
        .ledger(panics.clone())
        .build();
    let tools = toolset![relay_mail, send_mail].through(&gate);
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
        .with(host.mailbox.clone())
        .tools(&tools)
        .build();
    let cx = placed(&cx, 0);
    let waiting = ticket(&tools.call(call("relay_mail"), &cx).await);
    assert_eq!(states(&panics.store).await, []);
    host.approve(&waiting).await;
    let result = tools.call(call("relay_mail"), &cx).await;
    assert_eq!(result.model_text(), "sent to bob", "{result:?}");
    assert_eq!(host.mailbox.sent(), 1);
}

/// Sends a mail by a tool that needs an approval, and returns its own error text if the mail was not sent.
#[tool]
async fn relay_in_other_words(#[context] uses: Uses<(send_mail,)>) -> Result<String, ToolError> {
    let (to, copies) = ("bob".to_owned(), 1);
    let sent = uses.invoke(send_mail { to, copies }).await;
    sent.map_err(|_| ToolError::new("the mail did not go out"))
}

// An outer call that replaces the error of a waiting nested call waits, too
#[tokio::test]
async fn outer_call_waits_even_if_it_rewrites_the_error() {
    for attempts in [1, 2] {
        let host = Host::new();
        let gate = Gate::builder()
            .approvals(host.approvals().clone())
            .ledger(host.store.clone())
            .retry(tool_core::Retry {
                attempts,
                wait: std::time::Duration::from_millis(1),
            })
            .build();
        let tools = toolset![relay_in_other_words, send_mail].through(&gate);
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("th-1")
            .with(host.mailbox.clone())
            .tools(&tools)
            .build();
        let cx = placed(&cx, 0);
        let name = "relay_in_other_words";
        let waits = tools.call(call(name), &cx).await;
        let waiting = ticket(&waits);
        let operator = waits.error().unwrap().operator_text();
        assert!(operator.contains("did not go out"), "{operator}");
        host.approve(&waiting).await;
        let result = tools.call(call(name), &cx).await;
        assert_eq!(result.model_text(), "sent to bob", "{result:?}");
        assert_eq!(host.mailbox.sent(), 1);
        // Denying the nested call ends the outer call.
        let cx = placed(&cx, 1);
        let waiting = ticket(&tools.call(call(name), &cx).await);
        let (acme, token) = (Workspace::new("acme"), &waiting.token);
        let deny = tool_core::Reply::Deny;
        let answered = host
            .approvals()
            .answer(&acme, &tools, token, deny, "boss", None);
        answered.await.unwrap();
        let result = tools.call(call(name), &cx).await;
        assert_eq!(result.model_text(), "the mail did not go out", "{result:?}");
    }
}

/// A ledger that runs a callback while a call is recorded.
#[derive(Clone)]
struct CallbackLedger(MemoryStore, Arc<dyn Fn() + Send + Sync>);

impl EffectLedger for CallbackLedger {
    fn is_durable(&self) -> bool {
        false
    }
    fn begin(&self, intent: Intent, audit: Option<AuditRow>) -> StoreFuture<'_, Begun> {
        Box::pin(async move {
            let begun = self.0.begin(intent, audit).await;
            (self.1)();
            begun
        })
    }
    pass_on!(self => self.0; renew end get resolve sweep list);
}

// A call that is disabled while the ledger writes does not run, and its row records that it had no effect
#[tokio::test]
async fn call_that_is_switched_off_while_it_is_recorded_does_not_run() {
    type Change = Arc<dyn Fn() + Send + Sync>;
    let policy = SharedPolicy::new(Policy::builder().build().unwrap());
    let disables = Disables::default();
    let changes: [(&str, Change); 3] = [
        ("kill", {
            let policy = policy.clone();
            Arc::new(move || {
                policy.kill("send", None);
            })
        }),
        ("deny", {
            let policy = policy.clone();
            Arc::new(move || {
                let rule = tool_core::policy::Rule::deny("no").tools(["send"]);
                policy.replace(Policy::builder().rule(rule).build().unwrap());
            })
        }),
        ("disable", {
            let disables = disables.clone();
            Arc::new(move || {
                disables.disable("send");
            })
        }),
    ];
    for (what, change) in changes {
        policy.replace(Policy::builder().build().unwrap());
        policy.revive("send", None);
        let host = Host::new();
        let ledger = CallbackLedger(host.store.clone(), change);
        let gate = Gate::builder().ledger(ledger).build();
        let registry = Registry::builder().tool::<send>().build().unwrap();
        let rules = Rules::default().policy(&policy).disables(&disables);
        let tools = registry.toolset(&host.ann(), &rules).through(&gate);
        let result = tools.call(call("send"), &host.ann()).await;
        assert_eq!(
            result.error().map(ToolError::kind),
            Some(ErrorKind::Denied),
            "{what}: {result:?}"
        );
        assert_eq!(host.mailbox.sent(), 0, "{what}");
        assert_eq!(states(&host.store).await, [EffectState::Failed], "{what}");
    }
}
