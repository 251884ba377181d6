//! Tests of genai's own client with tools of tool-core and mock servers for three providers.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use genai::chat::{ChatMessage, ChatRequest};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ServiceTarget};
use serde_json::{Value, json};
use stand_in::MockServer;
use tool_core::prelude::*;

/// A day of the week.
#[derive(Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "lowercase")]
enum Day {
    /// The first day of the week.
    Monday,
    /// The last day of the week.
    Sunday,
}

/// Returns the temperature in a city.
#[tool(read_only, example("In Rome", { "city": "Rome", "days": 2 }))]
fn temperature(
    /// The name of the city.
    city: String,
    /// The number of days ahead.
    #[arg(range = 0..=7)]
    days: u8,
    /// The day to compare with.
    than: Option<Day>,
) -> Result<String, ToolError> {
    if city == "Atlantis" {
        return Err(ToolError::new("no such city"));
    }
    Ok(format!("{city} in {days} days: 21, {than:?}"))
}

fn client(stand_in: &MockServer, path: &str) -> Client {
    let endpoint = Endpoint::from_owned(format!("{}/{path}", stand_in.url()));
    let resolver = ServiceTargetResolver::from_resolver_fn(move |target: ServiceTarget| {
        Ok::<_, genai::resolver::Error>(ServiceTarget {
            endpoint: endpoint.clone(),
            auth: AuthData::from_single("sk-test"),
            model: target.model,
        })
    });
    Client::builder()
        .with_service_target_resolver(resolver)
        .build()
        .unwrap()
}

/// Makes two requests; the second request contains the results of the calls in the first response.
async fn talk(model: &str, path: &str, dialect: Dialect, answer: Value) -> (Vec<Value>, bool) {
    let stand_in = MockServer::answering([answer]).await.unwrap();
    let (client, tools) = (client(&stand_in, path), toolset![temperature]);
    let request = ChatRequest::new(vec![ChatMessage::user("How warm is it?")])
        .with_tools(tool_genai::tools(&tools, dialect).unwrap());
    let response = client
        .exec_chat(model, request.clone(), None)
        .await
        .unwrap();
    let message = tool_genai::message(&response);
    assert_eq!(message.calls.len(), 2, "{message:?}");
    // The model's reasoning is read. Only the response for OpenAI contains reasoning.
    let reasoning = if dialect == Dialect::OpenAi {
        "Two cities."
    } else {
        ""
    };
    assert_eq!(message.reasoning, reasoning);
    let mut results = Vec::new();
    for call in message.calls {
        results.push(tools.call(call, &ToolContext::anonymous()).await);
    }
    assert_eq!(results[0].model_text(), "Rome in 2 days: 21, None");
    let next = request
        .append_message(response.into_assistant_message_for_tool_use().unwrap())
        .append_messages(tool_genai::answers(&results));
    client.exec_chat(model, next, None).await.unwrap();
    (stand_in.asked(), message.truncated)
}

fn meant(dialect: Dialect) -> Value {
    serde_json::from_str(&toolset![temperature].definitions(dialect)).unwrap()
}

fn rome() -> Value {
    json!({"city": "Rome", "days": 2})
}

fn atlantis() -> Value {
    json!({"city": "Atlantis", "days": 1})
}

#[tokio::test]
async fn openai_conversation_round_trips() {
    let function = |id: &str, arguments: Value| json!({"id": id, "type": "function", "function": {"name": "temperature", "arguments": arguments.to_string()}});
    let answer = |finish: &str| {
        json!({"id": "1", "object": "chat.completion", "created": 0, "model": "gpt-4o", "choices": [{"index": 0, "finish_reason": finish, "message":
            {"role": "assistant", "content": null, "reasoning_content": "Two cities.", "tool_calls": [function("c-1", rome()), function("c-2", atlantis())]}}]})
    };
    let (asked, truncated) = talk("gpt-4o", "v1/", Dialect::OpenAi, answer("tool_calls")).await;
    assert!(!truncated);
    assert_eq!(
        asked[0]["tools"],
        meant(Dialect::OpenAi),
        "the client sends the definitions unchanged"
    );
    let told = asked[1]["messages"].as_array().unwrap();
    assert_eq!(told[2]["tool_call_id"], "c-1");
    assert_eq!(told[2]["content"], "Rome in 2 days: 21, None");
    assert_eq!(told[3]["content"], "no such city");
    let (_, truncated) = talk("gpt-4o", "v1/", Dialect::OpenAi, answer("length")).await;
    assert!(truncated);
}

#[tokio::test]
async fn anthropic_conversation_round_trips() {
    let call = |id: &str, input: Value| json!({"type": "tool_use", "id": id, "name": "temperature", "input": input});
    let answer = |reason: &str| {
        json!({"id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": reason, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1}, "content": [call("c-1", rome()), call("c-2", atlantis())]})
    };
    let model = "claude-sonnet-4-5";
    let (asked, truncated) = talk(model, "v1/", Dialect::Anthropic, answer("tool_use")).await;
    assert!(!truncated);
    let (sent, meant) = (&asked[0]["tools"][0], &meant(Dialect::Anthropic)[0]);
    for key in ["name", "description", "input_schema", "strict"] {
        assert_eq!(sent[key], meant[key], "{key}");
    }
    let told = asked[1]["messages"].to_string();
    assert!(
        told.contains("Rome in 2 days: 21, None") && told.contains("c-2"),
        "{told}"
    );
    let (_, truncated) = talk(model, "v1/", Dialect::Anthropic, answer("max_tokens")).await;
    assert!(truncated);
}

#[tokio::test]
async fn gemini_conversation_round_trips() {
    let call = |args: Value| json!({"functionCall": {"name": "temperature", "args": args}});
    let answer = |reason: &str| {
        json!({"candidates": [{"index": 0, "finishReason": reason, "content": {"role": "model", "parts": [call(rome()), call(atlantis())]}}],
            "modelVersion": "gemini-2.5-flash", "usageMetadata": {}})
    };
    let model = "gemini-2.5-flash";
    let (asked, truncated) = talk(model, "v1beta/", Dialect::Gemini, answer("STOP")).await;
    assert!(!truncated);
    let declared = &asked[0]["tools"][0]["functionDeclarations"][0];
    assert_eq!(declared["name"], "temperature");
    assert_eq!(
        declared["description"],
        meant(Dialect::Gemini)[0]["description"]
    );
    let told = asked[1]["contents"].to_string();
    assert!(
        told.contains("functionResponse") && told.contains("no such city"),
        "{told}"
    );
    let (_, truncated) = talk(model, "v1beta/", Dialect::Gemini, answer("MAX_TOKENS")).await;
    assert!(truncated);
}
