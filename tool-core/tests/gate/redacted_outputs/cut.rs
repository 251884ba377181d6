//! Redaction of texts that are cut, and secrets that are sent in parts.

use futures::StreamExt;
use serde_json::json;
use tool_core::bounded::{Bounded, Spills};
use tool_core::prelude::*;
use tool_core::store::MemoryStore;
use tool_core::{DynamicTool, Effect, ExposeSecret};

use super::{Host, KEY, call, clean, cx, texts, with_key};

fn unfit(name: &'static str, output: serde_json::Value) -> DynamicTool {
    let schema =
        json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false});
    let output_schema = json!({
        "type": "object",
        "properties": {"n": {"type": "integer"}, "s": {"type": "string", "enum": ["a", "b"]}},
        "additionalProperties": false
    });
    DynamicTool::new(
        name,
        "Returns an output that its schema does not allow.",
        schema,
        move |_: serde_json::Value, _: ToolContext| {
            let output = output.clone();
            async move { Ok::<_, ToolError>(output) }
        },
    )
    .effect(Effect::NONE)
    .output_schema(&output_schema)
}

// The error about an output schema shows no part of a secret, even if it truncates a long value.
#[tokio::test]
async fn output_schema_error_shows_no_part_of_a_secret() {
    let before = "x".repeat(25);
    let outputs = [
        json!({ "n": KEY }),
        json!({ "n": format!("{before}{KEY}") }),
        json!({ "s": format!("{before}{KEY}") }),
        json!({ format!("{}{KEY}", "y".repeat(50)): 1 }),
        json!({ "n": [{ KEY: 1 }], KEY: { "deep": KEY } }),
    ];
    for (at, output) in outputs.into_iter().enumerate() {
        let host = Host::new();
        let tools = Registry::builder()
            .dynamic(unfit("unfit", output))
            .build()
            .unwrap()
            .open();
        let ungated = tools.call(call("unfit"), &with_key()).await;
        assert!(ungated.is_error());
        clean(&texts(&ungated), &format!("{at} without a gate"));
        let result = tools
            .through(&host.gate)
            .call(call("unfit"), &with_key())
            .await;
        assert!(
            result
                .error()
                .unwrap()
                .operator_text()
                .contains("output schema")
        );
        clean(&texts(&result), &at.to_string());
        clean(&format!("{:?}", host.rows().await), &format!("{at} audit"));
    }
}

/// Returns a number.
#[tool]
async fn number(
    /// The number to return.
    n: u32,
    /// A text from the model.
    #[arg(audit = preview)]
    text: String,
) -> u32 {
    let _ = text;
    n
}

// Texts are redacted before they are truncated.
#[tokio::test]
async fn texts_are_redacted_before_they_are_truncated() {
    let host = Host::new();
    let gated = toolset![number].through(&host.gate);
    let long = "x".repeat(20);
    let wide = "w".repeat(90);
    let calls = [
        ("number", json!({ "n": format!("{long}{KEY}"), "text": "" })),
        ("number", json!({ "n": 1, format!("{long}{long}{KEY}"): 2 })),
        ("number", json!({ "n": 1, "text": format!("{wide}{KEY}") })),
        (&*format!("tool_{long}{long}{long}{KEY}"), json!({})),
        (KEY, json!({})),
    ];
    for (at, (tool, arguments)) in calls.iter().enumerate() {
        let call = ToolCall::new(format!("c-{at}"), *tool, arguments.to_string());
        let result = gated.call(call.clone(), &with_key()).await;
        let shown = format!("{} {:?}", result.model_text(), result.error());
        clean(&shown, &at.to_string());
        clean(&format!("{result:?}"), &at.to_string());
        let result = toolset![number].call(call, &with_key()).await;
        let shown = format!("{} {:?}", result.model_text(), result.error());
        clean(&shown, &format!("{at} without a gate"));
    }
    let rows = host.rows().await;
    assert_eq!(rows.len(), calls.len());
    clean(&format!("{rows:?}"), "audit");
}

/// Fails with a long error text.
#[tool]
async fn fail_at_length(#[secret("key")] key: SecretString) -> Result<u32, ToolError> {
    let text = format!("{}{}", "z".repeat(985), key.expose_secret());
    Err(ToolError::new(text))
}

// The truncated error in an audit row shows no part of a secret.
#[tokio::test]
async fn truncated_audit_error_shows_no_part_of_a_secret() {
    let host = Host::new();
    let tools = toolset![fail_at_length].through(&host.gate);
    tools.call(call("fail_at_length"), &with_key()).await;
    let rows = host.rows().await;
    assert!(rows[0].error.as_ref().unwrap().len() <= 1_000);
    clean(&format!("{rows:?}"), "audit");
}

/// Returns a long text.
#[tool]
async fn much(#[secret("key")] key: SecretString) -> Bounded<String, 100> {
    format!(
        "{}{} {}",
        "a".repeat(90),
        key.expose_secret(),
        "b".repeat(100)
    )
    .into()
}

// A spilled output and its head are redacted, even if the head is cut inside a secret.
#[tokio::test]
async fn spilled_output_and_its_head_are_redacted() {
    let cx = cx()
        .secret("key", SecretString::from(KEY))
        .with(Spills::new(MemoryStore::default()))
        .build();
    let tools = Registry::builder()
        .tool::<much>()
        .dynamic(tool_core::bounded::read_more())
        .build()
        .unwrap()
        .open();
    let result = tools.call(call("much"), &cx).await;
    let text = result.model_text();
    clean(&texts(&result), "head");
    let handle = text
        .split("handle `")
        .nth(1)
        .unwrap()
        .split('`')
        .next()
        .unwrap();
    let more = json!({ "handle": handle, "from": 0, "most": 60_000 }).to_string();
    let rest = tools
        .call(ToolCall::new("c-2", "read_more", more), &cx)
        .await;
    assert!(
        rest.model_text().contains("[secret:key]"),
        "{}",
        rest.model_text()
    );
    clean(&texts(&rest), "rest");
}

/// Sends a secret in two halves.
#[tool]
async fn halves(cx: &ToolContext, #[secret("key")] key: SecretString) -> u32 {
    let (one, other) = key.expose_secret().split_at(KEY.len() / 2);
    cx.progress(one);
    cx.progress(other);
    7
}

// A secret split over two progress values is not found, as the threat model documents.
#[tokio::test]
async fn secret_split_over_two_progress_values_is_not_found() {
    let events = toolset![halves].stream(call("halves"), &with_key());
    let steps = events.filter_map(async |event| match event {
        ToolEvent::Progress(step) => serde_json::from_str::<String>(step.get()).ok(),
        _ => None,
    });
    assert_eq!(steps.collect::<Vec<_>>().await.concat(), KEY);
}
