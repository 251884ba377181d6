//! The request of each provider: path, headers and body.

use serde_json::{Value, json};
use tool_agent::model::{ApiKey, CacheTime, Endpoint, HttpModel, OutputFormat};
use tool_core::prelude::*;
use tool_wire::Provider;

use crate::standin::{Received, StandIn, events};
use crate::support::{KEY, World, answer, anthropic, chat, chat_answer};

/// Returns the request that an endpoint gets.
async fn request(endpoint: impl Fn(&str) -> Endpoint, reply: Vec<Value>) -> Received {
    let server = StandIn::start(vec![events(reply)]).await;
    let endpoint = endpoint(&server.url);
    let has_temperature = endpoint.provider() != Provider::Anthropic;
    let mut builder = HttpModel::builder(endpoint, "a-model")
        .max_tokens(500)
        .cache_prompt(CacheTime::OneHour);
    if has_temperature {
        builder = builder.temperature(0.5);
    }
    let mut model = builder.build().unwrap();
    World::new().await.answer(&mut model).await;
    server.received()[0].clone()
}

/// Removes the definitions of tools, which other tests compare.
fn without_tools(mut body: Value) -> Value {
    let removed = body.as_object_mut().unwrap().remove("tools");
    assert!(removed.is_some_and(|tools| tools.to_string().contains("\"ping\"")));
    body
}

#[tokio::test]
async fn chat_request_has_its_path_header_and_fields() {
    let received = request(
        |url| Endpoint::openai_chat(ApiKey::new(KEY)).base_url(url),
        chat_answer("Done."),
    )
    .await;
    assert_eq!(received.line, "POST /v1/chat/completions");
    assert_eq!(
        received.header("authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
    assert_eq!(received.header("content-type"), Some("application/json"));
    let expected = json!({
        "model": "a-model", "stream": true, "stream_options": {"include_usage": true},
        "max_completion_tokens": 500, "temperature": 0.5,
        "messages": [{"role": "user", "content": "Ping the hosts."}],
    });
    assert_eq!(without_tools(received.body), expected);
}

#[tokio::test]
async fn compatible_server_gets_the_old_name_of_the_limit_and_no_key() {
    let received = request(|url| Endpoint::compatible(url), chat_answer("Done.")).await;
    assert_eq!(received.header("authorization"), None);
    assert_eq!(received.body["max_tokens"], 500);
    assert_eq!(received.body.get("max_completion_tokens"), None);
}

#[tokio::test]
async fn responses_request_stores_nothing_at_the_provider() {
    let item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]});
    let response = json!({"status": "completed", "output": [item], "usage": {"input_tokens": 1, "output_tokens": 1}});
    let received = request(
        |url| Endpoint::openai(ApiKey::new(KEY)).base_url(url),
        vec![
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": response}),
        ],
    )
    .await;
    assert_eq!(received.line, "POST /v1/responses");
    let body = without_tools(received.body);
    assert_eq!(
        (&body["store"], &body["stream"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(body["include"], json!(["reasoning.encrypted_content"]));
    assert_eq!(body["max_output_tokens"], 500);
    assert_eq!(body["input"][0]["role"], "user");
    assert_eq!(body.get("previous_response_id"), None);
}

#[tokio::test]
async fn anthropic_request_has_its_path_headers_and_fields() {
    let received = request(
        |url| Endpoint::anthropic(ApiKey::new(KEY)).base_url(url),
        answer("Done."),
    )
    .await;
    assert_eq!(received.line, "POST /v1/messages");
    assert_eq!(received.header("x-api-key"), Some(KEY));
    assert_eq!(received.header("authorization"), None);
    assert_eq!(received.header("anthropic-version"), Some("2023-06-01"));
    let expected = json!({
        "model": "a-model", "stream": true, "max_tokens": 500,
        "cache_control": {"type": "ephemeral", "ttl": "1h"},
        "messages": [{"role": "user", "content": "Ping the hosts."}],
    });
    assert_eq!(without_tools(received.body), expected);
}

#[tokio::test]
async fn gemini_request_has_the_model_in_its_path() {
    let reply = vec![
        json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "Done."}]}, "finishReason": "STOP"}]}),
    ];
    let received = request(
        |url| Endpoint::gemini(ApiKey::new(KEY)).base_url(url),
        reply.clone(),
    )
    .await;
    assert_eq!(
        received.line,
        "POST /v1/models/a-model:streamGenerateContent?alt=sse"
    );
    assert_eq!(received.header("x-goog-api-key"), Some(KEY));
    let mut body = without_tools(received.body);
    assert!(body.as_object_mut().unwrap().remove("toolConfig").is_some());
    let expected = json!({
        "generationConfig": {"maxOutputTokens": 500, "temperature": 0.5},
        "contents": [{"role": "user", "parts": [{"text": "Ping the hosts."}]}],
    });
    assert_eq!(body, expected);

    let vertex = |url: &str| Endpoint::vertex("p", "europe-west1", ApiKey::new(KEY)).base_url(url);
    let received = request(vertex, reply).await;
    assert_eq!(
        received.header("authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
}

// The fields of the host are merged into the body, and its query parameters are added to the URL.
#[tokio::test]
async fn additional_fields_headers_and_parameters_are_sent() {
    let server = StandIn::start(vec![events(chat_answer("Done."))]).await;
    let endpoint = Endpoint::compatible(&server.url)
        .credentials(ApiKey::new(KEY))
        .key_header("api-key")
        .header("X-Title", "first")
        .header("x-title", "second")
        .query("api-version", "2026-01-01 preview");
    let mut model = HttpModel::builder(endpoint, "local")
        .field("reasoning_effort", "low")
        .field("stream_options", Value::Null)
        .field("tool_choice", "required")
        .build()
        .unwrap();
    World::new().await.answer(&mut model).await;
    let received = server.received()[0].clone();
    assert_eq!(
        received.line,
        "POST /v1/chat/completions?api-version=2026-01-01+preview"
    );
    assert_eq!(
        (received.header("api-key"), received.header("authorization")),
        (Some(KEY), None)
    );
    assert_eq!(received.header("x-title"), Some("second"));
    assert_eq!(received.body["reasoning_effort"], "low");
    assert_eq!(received.body["tool_choice"], "required");
    assert_eq!(received.body.get("stream_options"), None);
}

// Instructions are in the messages for Chat Completions and in `system` for Anthropic, whose request also has the default of `max_tokens`.
#[tokio::test]
async fn instructions_are_sent() {
    for (is_chat, pointer) in [(true, "/messages/0/content"), (false, "/system/0/text")] {
        let reply = if is_chat {
            chat_answer("Done.")
        } else {
            answer("Done.")
        };
        let server = StandIn::start(vec![events(reply)]).await;
        let builder = if is_chat {
            chat(&server)
        } else {
            anthropic(&server)
        };
        let (mut model, world) = (builder.build().unwrap(), World::new().await);
        world.turns.instruct("Be brief.", &world.cx).await.unwrap();
        world.answer(&mut model).await;
        let body = &server.received()[0].body;
        let messages = body["messages"].as_array().unwrap();
        let found = if is_chat {
            let is_system = |message: &Value| message["content"] == "Be brief.";
            messages.iter().any(is_system)
        } else {
            body.pointer(pointer) == Some(&json!("Be brief.")) && body["max_tokens"] == 8192
        };
        assert!(found, "{body}");
    }
}

/// A typed output of the tests.
#[derive(serde::Deserialize, StrictSchema)]
#[expect(dead_code, reason = "only the schema is used")]
struct Weather {
    /// The wind in metres per second.
    wind: f64,
    /// The air; null if unknown.
    air: Option<String>,
}

// The format of a typed output is in the field of its provider, in the order of the type, beside the fields of the host.
#[tokio::test]
async fn format_of_a_typed_output_is_sent() {
    let key = || ApiKey::new(KEY);
    let format = OutputFormat::new::<Weather>().unwrap();
    let cases: [(Endpoint, &str, Value, &str); 4] = [
        (
            Endpoint::openai_chat(key()),
            "response_format",
            json!({"type": "json_schema"}),
            "/json_schema/schema",
        ),
        (
            Endpoint::openai(key()),
            "text",
            json!({"verbosity": "low"}),
            "/format/schema",
        ),
        (
            Endpoint::anthropic(key()),
            "output_config",
            json!({"effort": "low"}),
            "/format/schema",
        ),
        (
            Endpoint::gemini(key()),
            "generationConfig",
            json!({"topK": 3}),
            "/responseJsonSchema",
        ),
    ];
    for (endpoint, field, own, path) in cases {
        let provider = endpoint.provider();
        let server = StandIn::start(vec![events(Vec::new())]).await;
        let endpoint = endpoint.base_url(&server.url);
        let builder = HttpModel::builder(endpoint, "a-model").field(field, own.clone());
        let mut model = builder.build().unwrap();
        let world = World::of(ToolContext::builder().with(format.clone())).await;
        // The mock provider sends no reply.
        world.drive(&mut model).await.unwrap_err();
        let received = server.received()[0].clone();
        let sent = &received.body[field];
        for (name, value) in own.as_object().unwrap() {
            assert_eq!(&sent[name], value, "{provider}: {sent}");
        }
        let schema = sent.pointer(path).unwrap();
        let expected: Value = serde_json::from_str(format.schema(provider.dialect())).unwrap();
        assert_eq!(schema, &expected, "{provider}");
        let constants: &[(&str, Value)] = match provider {
            Provider::Chat => &[
                ("/json_schema/name", json!("final_answer")),
                ("/json_schema/strict", json!(true)),
            ],
            Provider::Responses => &[
                ("/format/type", json!("json_schema")),
                ("/format/name", json!("final_answer")),
                ("/format/strict", json!(true)),
            ],
            Provider::Anthropic => &[("/format/type", json!("json_schema"))],
            _ => &[("/responseMimeType", json!("application/json"))],
        };
        for (path, value) in constants {
            assert_eq!(sent.pointer(path), Some(value), "{provider}: {sent}");
        }
        let (wind, air) = (
            received.text.find("\"wind\""),
            received.text.find("\"air\""),
        );
        assert!(wind < air, "{provider}: {}", received.text);
    }
}
