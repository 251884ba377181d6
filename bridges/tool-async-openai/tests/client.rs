//! Tests of async-openai's own client with tools of tool-core and a mock server for OpenAI.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use async_openai::Client;
use async_openai::config::OpenAIConfig;
use async_openai::types::chat::{
    ChatCompletionRequestMessage, ChatCompletionRequestUserMessage, CreateChatCompletionRequest,
};
use async_openai::types::responses::{CreateResponse, InputItem, InputParam};
use serde_json::{Value, json};
use stand_in::MockServer;
use tool_async_openai::{chat, responses};
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
        return Err(ToolError::new("no such city"));
    }
    Ok(format!("{city} in {days} days: 21"))
}

/// Returns zero. The tool is offered only to providers other than OpenAI.
#[tool(providers(anthropic))]
fn elsewhere() -> u8 {
    0
}

fn set() -> Toolset {
    toolset![temperature, elsewhere]
}

fn client(stand_in: &MockServer) -> Client<OpenAIConfig> {
    let config = OpenAIConfig::new()
        .with_api_base(stand_in.url())
        .with_api_key("sk-test");
    Client::with_config(config)
}

async fn results(tools: &Toolset, calls: Vec<ToolCall>) -> Vec<CallResult> {
    let mut results = Vec::new();
    for call in calls {
        results.push(tools.call(call, &ToolContext::anonymous()).await);
    }
    results
}

fn completion(finish: &str, calls: &Value) -> Value {
    json!({"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [{
        "index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": "Let me look.", "tool_calls": calls}
    }]})
}

fn function(id: &str, arguments: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "temperature", "arguments": arguments}})
}

#[tokio::test]
async fn chat_round_trips() {
    let calls = json!([
        function("c-1", r#"{"city":"Rome","days":2}"#),
        function("c-2", r#"{"city":"Atlantis","days":1}"#),
        function("c-3", r#"{"city":"Rome"}"#),
    ]);
    let stand_in = MockServer::answering([completion("tool_calls", &calls)])
        .await
        .unwrap();
    let (client, tools) = (client(&stand_in), set());
    let mut messages = vec![ChatCompletionRequestMessage::User(
        ChatCompletionRequestUserMessage::from("How warm is it?"),
    )];
    let request = |messages: &[ChatCompletionRequestMessage]| CreateChatCompletionRequest {
        model: "m".to_owned(),
        messages: messages.to_vec(),
        tools: Some(chat::tools(&set()).unwrap()),
        ..CreateChatCompletionRequest::default()
    };
    let response = client.chat().create(request(&messages)).await.unwrap();
    let message = chat::message(&response);
    assert_eq!(
        (message.text.as_str(), message.truncated),
        ("Let me look.", false)
    );
    let results = results(&tools, message.calls).await;
    messages.extend(chat::answers(&results));
    client.chat().create(request(&messages)).await.unwrap();

    let asked = stand_in.asked();
    let meant: Value = serde_json::from_str(&tools.definitions(Dialect::OpenAi)).unwrap();
    assert_eq!(
        asked[0]["tools"], meant,
        "the client sends the definitions as tool-core writes them"
    );
    let schema = |tools: &Value| tools[0]["function"]["parameters"].to_string();
    assert_eq!(
        schema(&asked[0]["tools"]),
        schema(&meant),
        "the client keeps the order of the parameters"
    );
    assert_eq!(
        meant.as_array().unwrap().len(),
        1,
        "tools that are not offered to OpenAI are left out"
    );
    let told = asked[1]["messages"].as_array().unwrap();
    assert_eq!(
        told[1],
        json!({"role": "tool", "tool_call_id": "c-1", "content": "Rome in 2 days: 21"})
    );
    assert_eq!(told[2]["content"], "no such city");
    assert!(told[3]["content"].as_str().unwrap().contains("/days"));
}

#[tokio::test]
async fn truncated_replies_are_marked() {
    for (finish, truncated) in [("length", true), ("content_filter", true), ("stop", false)] {
        let response = completion(finish, &json!([function("c-1", "{\"city\":")]));
        let stand_in = MockServer::answering([response]).await.unwrap();
        let response = client(&stand_in)
            .chat()
            .create(CreateChatCompletionRequest::default())
            .await
            .unwrap();
        let message = chat::message(&response);
        assert_eq!(message.truncated, truncated, "{finish}");
        assert_eq!(message.calls.len(), 1);
    }
}

fn response(status: &str) -> Value {
    json!({
        "id": "r-1", "object": "response", "created_at": 0, "model": "m", "status": status,
        "output": [
            {"type": "reasoning", "id": "rs-1", "summary": [{"type": "summary_text", "text": "A city."}, {"type": "summary_text", "text": "Look it up."}]},
            {"type": "message", "id": "m-1", "role": "assistant", "status": "completed",
             "content": [{"type": "output_text", "text": "Let me look.", "annotations": []}]},
            {"type": "function_call", "id": "f-1", "call_id": "c-1", "name": "temperature", "arguments": "{\"city\":\"Rome\",\"days\":2}"}
        ]
    })
}

#[tokio::test]
async fn response_round_trips() {
    let stand_in = MockServer::answering([response("completed"), response("incomplete")])
        .await
        .unwrap();
    let (client, tools) = (client(&stand_in), set());
    let request = |input: Vec<InputItem>| CreateResponse {
        model: Some("m".to_owned()),
        input: InputParam::Items(input),
        tools: Some(responses::tools(&set()).unwrap()),
        ..CreateResponse::default()
    };
    let first = client
        .responses()
        .create(request(Vec::new()))
        .await
        .unwrap();
    let message = responses::message(&first);
    assert_eq!(message.reasoning, "A city.\n\nLook it up."); // Reasoning is read
    assert_eq!(
        (message.text.as_str(), message.truncated),
        ("Let me look.", false)
    );
    let results = results(&tools, message.calls).await;
    let cut = client
        .responses()
        .create(request(responses::answers(&results)))
        .await
        .unwrap();
    assert!(responses::message(&cut).truncated);

    let asked = stand_in.asked();
    let meant: Value = serde_json::from_str(&tools.definitions(Dialect::OpenAi)).unwrap();
    let (sent, meant) = (&asked[0]["tools"][0], &meant[0]["function"]);
    assert_eq!(sent["type"], "function");
    for key in ["name", "description", "strict", "parameters"] {
        assert_eq!(sent[key], meant[key]);
    }
    assert_eq!(
        asked[1]["input"],
        json!([{"type": "function_call_output", "call_id": "c-1", "output": "Rome in 2 days: 21"}])
    );
}
