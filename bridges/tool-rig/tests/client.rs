//! Tests of rig's own client with tools of tool-core and a mock server for OpenAI, and of rig's tools that are made from tools of tool-core.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use rig_core::completion::{CompletionRequest, Message};
use rig_core::providers::openai::{OpenAIConfig, Route};
use rig_core::tool::ToolErrorKind;
use serde_json::{Value, json};
use stand_in::MockServer;
use tool_core::Rules;
use tool_core::policy::{Condition, Policy, Rule};
use tool_core::prelude::*;

/// Returns the temperature in a city.
#[tool(read_only, example("In Rome", { "city": "Rome", "days": 2 }))]
fn temperature(
    /// The name of the city.
    city: String,
    /// The number of days ahead.
    #[arg(range = 0..=7)]
    days: u8,
) -> Result<String, ToolError> {
    if city == "Atlantis" {
        return Err(ToolError::new("no such city").operator("atlas 7 has no page for it"));
    }
    Ok(format!("{city} in {days} days: 21"))
}

fn completion(finish: &str) -> Value {
    let function = |id: &str, arguments: Value| json!({"id": id, "type": "function", "function": {"name": "temperature", "arguments": arguments.to_string()}});
    json!({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        "choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "reasoning_content": "Two cities.", "content": "Let me look.", "tool_calls": [
            function("c-1", json!({"city": "Rome", "days": 2})), function("c-2", json!({"city": "Atlantis", "days": 1}))]}}]})
}

#[tokio::test]
async fn completion_round_trips() {
    let stand_in = MockServer::answering([completion("tool_calls"), completion("length")])
        .await
        .unwrap();
    let model = OpenAIConfig::new("sk-test")
        .with_base_url(stand_in.url())
        .with_route(Route::Chat)
        .client()
        .completion("m");
    let tools = toolset![temperature];
    let definitions = tool_rig::definitions(&tools, Dialect::OpenAi).unwrap();
    let request = || CompletionRequest::new("How warm is it?").tools(definitions.clone());
    let response = model.call(request()).await.unwrap();
    let message = tool_rig::message(&response);
    assert_eq!(message.reasoning, "Two cities."); // Reasoning is read
    assert_eq!(
        (message.text.as_str(), message.truncated),
        ("Let me look.", false)
    );
    let mut results = Vec::new();
    for call in message.calls {
        results.push(tools.call(call, &ToolContext::anonymous()).await);
    }
    let said = [
        Message::user("How warm is it?"),
        response.message().unwrap(),
    ];
    let answer = tool_rig::answer(&results).unwrap();
    let next = CompletionRequest::new(answer)
        .messages(said)
        .tools(definitions.clone());
    let cut = model.call(next).await.unwrap();
    assert!(tool_rig::message(&cut).truncated);
    assert!(tool_rig::answer(&[]).is_none());

    let asked = stand_in.asked();
    let meant: Value = serde_json::from_str(&tools.definitions(Dialect::OpenAi)).unwrap();
    let (sent, meant) = (&asked[0]["tools"][0]["function"], &meant[0]["function"]);
    for key in ["name", "description", "parameters"] {
        assert_eq!(sent[key], meant[key], "{key}");
    }
    let told = asked[1]["messages"].as_array().unwrap();
    assert_eq!(told[2]["tool_call_id"], "c-1");
    assert_eq!(told[2]["content"], "Rome in 2 days: 21");
    assert_eq!(told[3]["content"], "no such city");
}

#[tokio::test]
async fn rig_tool_calls_have_the_output_or_the_error_of_the_tool() {
    let registry = Registry::builder().tool::<temperature>().build().unwrap();
    let cx = ToolContext::anonymous();
    let dynamic = tool_rig::tools(&registry.open(), Dialect::OpenAi, &cx).unwrap();
    let rome = || json!({"city": "Rome", "days": 2});
    let output = dynamic[0].execute(rome()).await.unwrap();
    assert_eq!(output.as_text(), Some("Rome in 2 days: 21"));
    let wrong = dynamic[0].execute(json!({"city": 1})).await.unwrap_err();
    assert_eq!(wrong.kind(), ToolErrorKind::InvalidArgs);
    let told = wrong.model_feedback().unwrap();
    assert!(told.contains("/city") && told.contains("/days"), "{told}");
    let failed = dynamic[0]
        .execute(json!({"city": "Atlantis", "days": 1}))
        .await
        .unwrap_err();
    assert_eq!(failed.model_feedback(), Some("no such city"));
    assert!(failed.message().contains("atlas 7"), "{}", failed.message());

    let policy = Policy::builder().rule(
        Rule::deny("no-weather")
            .tools(["temperature"])
            .when(Condition::new("/city").equals("Rome")),
    );
    let rules = Rules::default().policy(&policy.share().unwrap());
    let dynamic = tool_rig::tools(&registry.toolset(&cx, &rules), Dialect::OpenAi, &cx).unwrap();
    let refused = dynamic[0].execute(rome()).await.unwrap_err();
    assert!(refused.is_refusal(), "{refused:?}");
}
