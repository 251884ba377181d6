//! Access of tools to secrets, variables and host values.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

use std::sync::Arc;

use serde_json::json;
use tool_core::prelude::*;
use tool_core::{DynamicTool, Effect, ErrorKind, ExposeSecret, SecretNeed};

#[derive(Clone)]
struct Index(Arc<str>);
tool_core::host_value!(Index, Effect::READ);

#[derive(Clone)]
struct Store;
tool_core::host_value!(Store, Effect::WRITE);

/// Reads its own secret, and tries to read a secret that it does not declare.
#[tool]
async fn peek(cx: &ToolContext, #[secret("own")] own: SecretString) -> Vec<bool> {
    vec![
        own.expose_secret() == "my own secret",
        cx.secret("own").is_some(),
        cx.secret("foreign").is_some(),
        cx.variable("UNDECLARED").is_some(),
    ]
}

/// Works with or without its secret.
#[tool]
async fn maybe(#[secret("rare")] rare: Option<SecretString>) -> bool {
    rare.is_some()
}

/// Reads a declared variable.
#[tool]
async fn region(
    #[variable("REGION")] region: String,
    #[variable("LIMIT")] limit: Option<u8>,
) -> String {
    format!("{region} {limit:?}")
}

/// Reads the index; works with or without the store.
#[tool]
async fn look(index: &Index, #[context] store: Option<Store>) -> String {
    format!("{} {}", index.0, store.is_some())
}

/// Reads values that it does not declare.
#[tool(read_only)]
async fn overreach(cx: &ToolContext) -> Result<Vec<bool>, ToolError> {
    let granted = cx.get::<Index>().is_ok();
    let refused = cx
        .get::<Store>()
        .is_err_and(|error| error.kind() == ErrorKind::Denied);
    let hidden = cx.extension::<Store>().is_none();
    Ok(vec![
        granted,
        refused,
        hidden,
        cx.get::<Option<Store>>().is_err(),
    ])
}

fn tools() -> Toolset {
    Registry::builder()
        .tool::<peek>()
        .tool::<maybe>()
        .tool::<region>()
        .tool::<look>()
        .tool::<overreach>()
        .build()
        .unwrap()
        .open()
}

async fn run(name: &str, cx: &ToolContext) -> CallResult {
    tools().call(ToolCall::new("c1", name, "{}"), cx).await
}

// S0-08, S1-14: a tool reads only the secrets that it declares.
#[tokio::test]
async fn tool_reads_only_declared_secrets() {
    let cx = ToolContext::builder()
        .secret("own", "my own secret")
        .secret("foreign", "their secret")
        .variable("UNDECLARED", "x")
        .build();
    assert_eq!(
        run("peek", &cx).await.model_text(),
        "[true,true,false,false]"
    );
    assert_eq!(run("maybe", &cx).await.model_text(), "false");
    assert!(!format!("{cx:?}").contains("my own secret"));
}

// S0-08: a tool that is created at run time reads only the secrets that it declares and the host values that its effect allows.
#[tokio::test]
async fn dynamic_secrets_are_scoped() {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
    let tool = DynamicTool::new(
        "peek",
        "Peeks.",
        schema,
        |_: serde_json::Value, cx: ToolContext| async move {
            vec![
                cx.secret("own").is_some(),
                cx.secret("foreign").is_some(),
                cx.get::<Index>().is_ok(),
                cx.get::<Store>().is_ok(),
            ]
        },
    );
    let tool = tool.secret(SecretNeed::new("own")).effect(Effect::READ);
    let cx = ToolContext::builder()
        .secret("own", "my own secret")
        .secret("foreign", "their secret")
        .with(Index("i".into()))
        .with(Store)
        .build();
    let tools = Registry::builder().dynamic(tool).build().unwrap().open();
    assert_eq!(
        tools
            .call(ToolCall::new("c1", "peek", "{}"), &cx)
            .await
            .model_text(),
        "[true,false,true,false]"
    );
}

// S1-07: a missing secret or host value is an error result: the model reads that the tool is not set up, the operator reads the name of the missing
// item.
#[tokio::test]
async fn missing_secret_or_host_value_is_an_error_result() {
    let cx = ToolContext::anonymous();
    for (name, what) in [("peek", "the secret `own`"), ("look", "`Index`")] {
        let result = run(name, &cx).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{name}");
        assert!(error.operator_text().contains(what), "{error:?}");
        assert!(
            !result.model_text().contains(what),
            "{}",
            result.model_text()
        );
    }
}

// S0-08: variables arrive parsed; the error about a value that cannot be parsed does not contain the value.
#[tokio::test]
async fn variables_are_parsed_and_their_errors_hide_the_value() {
    let cx = ToolContext::builder()
        .variable("REGION", "eu")
        .variable("LIMIT", "7")
        .build();
    assert_eq!(run("region", &cx).await.model_text(), "eu Some(7)");
    let cx = ToolContext::builder()
        .variable("REGION", "eu")
        .variable("LIMIT", "sk-value")
        .build();
    let result = run("region", &cx).await;
    assert!(!result.error().unwrap().operator_text().contains("sk-value"));
}

// S0-08: host values arrive as references, owned values and options.
#[tokio::test]
async fn host_values_are_passed_as_references_owned_values_and_options() {
    let cx = ToolContext::builder().with(Index("docs".into())).build();
    assert_eq!(run("look", &cx).await.model_text(), "docs false");
    let cx = ToolContext::builder()
        .with(Index("docs".into()))
        .with(Store)
        .build();
    assert_eq!(run("look", &cx).await.model_text(), "docs true");
}

// S0-08: a tool's effect is the union of its host parameters' effects, and `get` refuses a value with an effect that the tool does not have.
#[tokio::test]
async fn effect_limits_the_host_values_of_a_tool() {
    let tools = tools();
    assert_eq!(
        tools.get("look").unwrap().effect(),
        Effect::READ.union(Effect::WRITE)
    );
    assert_eq!(tools.get("overreach").unwrap().effect(), Effect::READ);
    let cx = ToolContext::builder()
        .with(Index("docs".into()))
        .with(Store)
        .build();
    assert_eq!(
        run("overreach", &cx).await.model_text(),
        "[true,true,true,true]"
    );
    // Outside of a call the host reads its own values without restriction.
    assert!(cx.get::<Store>().is_ok() && cx.extension::<Store>().is_some());
}

// S0-08: each of a hundred interleaved calls reads only its own context.
#[tokio::test(flavor = "multi_thread")]
async fn parallel_contexts_are_isolated() {
    let tools = tools();
    let calls = (0..100).map(|n| {
        let tools = tools.clone();
        tokio::spawn(async move {
            let cx = ToolContext::builder()
                .with(Index(format!("i{n}").into()))
                .build();
            let result = tools
                .call(ToolCall::new(n.to_string(), "look", "{}"), &cx)
                .await;
            (result.model_text(), format!("i{n} false"))
        })
    });
    for call in calls.collect::<Vec<_>>() {
        let (found, expected) = call.await.unwrap();
        assert_eq!(found, expected);
    }
}
