//! Interleaved calls of two workspaces.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures::future::{BoxFuture, FutureExt as _, join_all};
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, MemoryStore, Scope, Workspace};
use tool_core::variables::{Declarations, Thread, Variables};
use tool_core::{
    Approvals, Audit, ConversationState, DynamicTool, Effect, ExposeSecret, Gate, SecretNeed,
    StatePlace, StateStore, VariableNeed,
};

use crate::support::placed;

/// A state store that yields before each step, so that calls overlap.
#[derive(Default)]
struct States(Mutex<HashMap<(StatePlace, String), Value>>);

impl StateStore for States {
    fn get<'a>(
        &'a self,
        place: &'a StatePlace,
        key: &'a str,
    ) -> BoxFuture<'a, Result<Option<Value>, ToolError>> {
        async move {
            tokio::task::yield_now().await;
            let found = self.0.lock().unwrap();
            Ok(found.get(&(place.clone(), key.to_owned())).cloned())
        }
        .boxed()
    }

    fn set<'a>(
        &'a self,
        place: &'a StatePlace,
        key: &'a str,
        value: Option<Value>,
    ) -> BoxFuture<'a, Result<(), ToolError>> {
        async move {
            tokio::task::yield_now().await;
            let key = (place.clone(), key.to_owned());
            let mut all = self.0.lock().unwrap();
            match value {
                Some(value) => all.insert(key, value),
                None => all.remove(&key),
            };
            Ok(())
        }
        .boxed()
    }
}

/// Reverses a text, so that the redactor does not find a secret in it and a test can compare it.
fn reversed(text: &str) -> String {
    text.chars().rev().collect()
}

/// Returns the context values that a call reads, some of them before and after other calls run.
async fn seen(
    cx: &ToolContext,
    key: String,
    state: &ConversationState,
) -> Result<Value, ToolError> {
    let mine = format!("{}/{}", cx.workspace().unwrap(), cx.call_id().unwrap());
    let name = cx.call_id().unwrap().to_owned();
    state.set(&name, mine.clone()).await?;
    // The other workspace uses the same conversation and call ids.
    let stored = state.get(&name).await?;
    tokio::task::yield_now().await;
    Ok(json!({
        "mine": mine, "state": stored, "secret": reversed(&key), "user": cx.user(), "conversation": cx.conversation(),
        "variable": cx.variable("REGION"), "secret_variable": cx.variable("TOKEN").map(reversed),
        "again": format!("{}/{}", cx.workspace().unwrap(), cx.call_id().unwrap()),
    }))
}

/// Returns the values that the call sees.
#[tool(variable("REGION"), variable("TOKEN", secret))]
async fn peek(
    cx: &ToolContext,
    #[secret("key")] key: SecretString,
    state: &ConversationState,
) -> Result<Value, ToolError> {
    seen(cx, key.expose_secret().to_owned(), state).await
}

/// Returns a variant of `peek` whose closure a factory creates for each call.
fn bound() -> DynamicTool {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    DynamicTool::factory(
        "bound",
        "Returns the values that the factory bound.",
        schema,
        |cx: &ToolContext| {
            assert!(
                cx.secret("foreign").is_none() && cx.variable("FOREIGN").is_none(),
                "undeclared values are hidden"
            );
            let key = cx.secret("key").unwrap().expose_secret().to_owned();
            let (cx, state) = (cx.clone(), cx.get::<ConversationState>()?);
            Ok(move |_: Value| async move { seen(&cx, key, &state).await })
        },
    )
    .secret(SecretNeed::new("key"))
    .variable(VariableNeed::new("REGION"))
    .variable(VariableNeed {
        kind: tool_core::VariableKind::Secret,
        ..VariableNeed::new("TOKEN")
    })
    .effect(Effect::READ.union(Effect::WRITE))
}

fn expected(tenant: &str, n: u32) -> Value {
    let mine = format!("{tenant}/c-{n}");
    json!({
        "mine": mine, "state": mine, "again": mine,
        "secret": reversed(&format!("sk-{tenant}-secret")), "user": format!("user-of-{tenant}"), "conversation": "th-1",
        "variable": format!("region of {tenant}"), "secret_variable": reversed(&format!("token-of-{tenant}")),
    })
}

// S1-08, S2-06: two workspaces make a hundred interleaved calls each, with the same conversation, positions and call ids: no call reads
// secrets, variables, ids or state of the other workspace, and each call has its own row.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_workspaces_are_isolated() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .approvals(Approvals::builder(store.clone()).build().unwrap())
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let registry = Registry::builder()
        .tool::<peek>()
        .dynamic(bound())
        .build()
        .unwrap();
    let tools = registry.open().through(&gate);
    let states: Arc<dyn StateStore> = Arc::new(States::default());
    let mut declared = Declarations::new();
    declared.tools(tools.tools()).unwrap();

    let contexts = ["acme", "zeta"].map(|tenant| {
        let instance = Variables::new();
        instance.set("REGION", format!("region of {tenant}"));
        instance.set("TOKEN", SecretString::from(format!("token-of-{tenant}")));
        let turn = Thread::new().instance(&instance).resolve(&declared);
        let cx = ToolContext::builder()
            .workspace(tenant)
            .user(format!("user-of-{tenant}"))
            .conversation("th-1")
            .secret("key", format!("sk-{tenant}-secret"))
            .secret("foreign", "somebody else's")
            .variables(turn)
            .variable("FOREIGN", "not declared")
            .state(Arc::clone(&states))
            .build();
        (tenant, cx)
    });
    let calls = (0_u32..100).flat_map(|n| {
        let tools = tools.clone();
        contexts.clone().map(|(tenant, cx)| {
            let tools = tools.clone();
            tokio::spawn(async move {
                let name = if n % 2 == 0 { "peek" } else { "bound" };
                let call = ToolCall::new(format!("c-{n}"), name, "{}");
                let result = tools.call(call, &placed(&cx, n)).await;
                let output = result.output().unwrap_or_else(|| panic!("{result:?}"));
                let stored: Value = serde_json::from_str(output.get()).unwrap();
                assert_eq!(stored, expected(tenant, n));
                // The schema and the definitions contain no value that the factory bound.
                for dialect in Dialect::ALL {
                    assert!(!tools.definitions(dialect).contains(tenant));
                }
            })
        })
    });
    for call in join_all(calls).await {
        call.unwrap();
    }

    for tenant in ["acme", "zeta"] {
        let (workspace, filter) = (Workspace::new(tenant), AuditFilter::default());
        let rows = AuditSink::export(&store, Scope::Workspace(&workspace), &filter)
            .await
            .unwrap();
        assert_eq!(rows.len(), 100);
        for row in rows {
            assert_eq!(row.principal, Some(format!("user-of-{tenant}")));
            assert_eq!(row.outcome.as_deref(), Some("ok"), "{row:?}");
        }
    }
}

// S1-09: name, description and all other texts for the model come from the definition: the texts are the same bytes for every tool that the factory
// creates, and also if it fails.
#[tokio::test]
async fn factory_cannot_change_what_the_model_reads() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = DynamicTool::factory(
        "chameleon",
        "Answers as the host made it.",
        schema,
        |cx: &ToolContext| {
            let user = cx.user().ok_or_else(|| ToolError::new("nobody asks"))?;
            // Factories of some other systems return a tool with its own name and description, like this value.
            let made =
                json!({"name": format!("of_{user}"), "description": format!("Serves {user}.")});
            Ok(move |_: Value| std::future::ready(Ok::<_, ToolError>(made)))
        },
    );
    let registry = Registry::builder().dynamic(tool).build().unwrap();
    let read = |cx: &ToolContext| {
        let tools = registry.toolset(cx, &tool_core::Rules::default());
        let names: Vec<_> = tools.names().map(str::to_owned).collect();
        (
            names,
            Dialect::ALL.map(|dialect| tools.definitions(dialect)),
        )
    };
    let first = read(&ToolContext::anonymous());
    assert_eq!(first.0, ["chameleon"]);
    for text in &first.1 {
        assert!(text.contains("Answers as the host made it."), "{text}");
    }
    for user in ["ann", "bob"] {
        let cx = ToolContext::builder().user(user).build();
        let call = |name: &str| ToolCall::new("c-1", name, "{}");
        assert_eq!(read(&cx), first);
        let result = registry.open().call(call("chameleon"), &cx).await;
        let made: Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
        assert_eq!(made["name"], format!("of_{user}"), "the factory has run");
        assert_eq!(result.name(), "chameleon");
        assert_eq!(read(&cx), first);
        let result = registry.open().call(call(&format!("of_{user}")), &cx).await;
        assert_eq!(
            result.error().unwrap().kind(),
            tool_core::ErrorKind::UnknownTool
        );
    }
    let refused = registry
        .open()
        .call(
            ToolCall::new("c-1", "chameleon", "{}"),
            &ToolContext::anonymous(),
        )
        .await;
    assert_eq!(refused.model_text(), "nobody asks");
    assert_eq!(read(&ToolContext::anonymous()), first);
}

// S1-08: a factory that fails or panics is an error result of the call.
#[tokio::test]
async fn failing_factory_is_an_error_result() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = DynamicTool::factory("never", "Is never made.", schema, |cx: &ToolContext| {
        assert!(cx.user().is_some(), "nobody asks");
        Err::<fn(Value) -> std::future::Ready<u32>, _>(ToolError::new("not for you"))
    });
    let tools = Registry::builder().dynamic(tool).build().unwrap().open();
    let call = || ToolCall::new("c-1", "never", "{}");
    let cx = ToolContext::builder().user("ann").build();
    assert_eq!(tools.call(call(), &cx).await.model_text(), "not for you");
    let result = tools.call(call(), &ToolContext::anonymous()).await;
    assert_eq!(
        result.error().unwrap().kind(),
        tool_core::ErrorKind::Panicked
    );
}
