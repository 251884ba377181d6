//! Threads that are continued at a different origin: their opaque parts are left out, and their texts, calls and results are kept.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Message, ThreadId, ThreadStore};
use tool_core::turn::{ModelMessage, Turns, Written};
use tool_wire::{ModelReply, Provider};

/// Looks a number up.
#[tool(read_only)]
async fn look_up(
    /// The name of the number.
    name: String,
) -> String {
    format!("result-of-{name}")
}

/// Texts that only the origin of a message can read, and the items that contain them.
const OPAQUE: [&str; 14] = [
    "opaque-1",
    "opaque-2",
    "opaque-3",
    "opaque-4",
    "thinking",
    "Thinking",
    "reasoning",
    "thought\"",
    "compaction",
    "server_tool_use",
    "rs_1",
    "fc_1",
    "msg_1",
    "Considered.",
];

/// Texts that every request of the thread contains.
const KEPT: [&str; 8] = [
    "Which numbers?",
    "Well:",
    "look_up",
    "alpha",
    "beta",
    "result-of-alpha",
    "result-of-beta",
    "Done.",
];

/// Returns a reply with every kind of opaque part, a text and two calls.
fn body(provider: Provider) -> Value {
    let (first, second) = (json!({"name": "alpha"}), json!({"name": "beta"}));
    match provider {
        Provider::Chat => {
            let call = |id: &str, arguments: &Value| {
                json!({"id": id, "type": "function",
                "function": {"name": "look_up", "arguments": arguments.to_string()}})
            };
            json!({"choices": [{"message": {"role": "assistant", "reasoning": "Considered.", "content": "Well:",
                "reasoning_details": [{"type": "reasoning.text", "text": "Considered.", "signature": "opaque-1", "index": 0},
                    {"type": "reasoning.encrypted", "data": "opaque-2", "index": 1}],
                "tool_calls": [call("c-1", &first), call("c-2", &second)]}, "finish_reason": "tool_calls"}]})
        }
        Provider::Responses => {
            let call = |id: &str, arguments: &Value| {
                json!({"id": "fc_1", "type": "function_call", "status": "completed",
                "call_id": id, "name": "look_up", "arguments": arguments.to_string()})
            };
            json!({"status": "completed", "output": [
                {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Considered."}], "encrypted_content": "opaque-1"},
                {"id": "cmp_1", "type": "compaction", "encrypted_content": "opaque-2"},
                {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant",
                    "content": [{"type": "output_text", "text": "Well:", "annotations": []}]},
                call("c-1", &first), call("c-2", &second)]})
        }
        Provider::Anthropic => {
            let call = |id: &str, input: &Value| json!({"type": "tool_use", "id": id, "name": "look_up", "input": input});
            json!({"content": [
                {"type": "compaction", "content": "opaque-1"},
                {"type": "thinking", "thinking": "Considered.", "signature": "opaque-2"},
                {"type": "redacted_thinking", "data": "opaque-3"},
                {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
                {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
                    "content": [{"type": "web_search_result", "encrypted_content": "opaque-4"}]},
                {"type": "text", "text": "Well:"}, call("c-1", &first), call("c-2", &second)], "stop_reason": "tool_use"})
        }
        Provider::Gemini => {
            let call = |id: &str, args: &Value| json!({"id": id, "name": "look_up", "args": args});
            json!({"candidates": [{"content": {"role": "model", "parts": [
                {"text": "Considered.", "thought": true},
                {"text": "Well:", "thoughtSignature": "opaque-1"},
                {"functionCall": call("c-1", &first), "thoughtSignature": "opaque-2"},
                {"functionCall": call("c-2", &second)}]}, "finishReason": "STOP"}]})
        }
        Provider::Bedrock => {
            let call = |id: &str, input: &Value| json!({"toolUse": {"toolUseId": id, "name": "look_up", "input": input}});
            json!({"output": {"message": {"role": "assistant", "content": [
                {"reasoningContent": {"reasoningText": {"text": "Considered.", "signature": "opaque-1"}}},
                {"reasoningContent": {"redactedContent": "opaque-2"}},
                {"text": "Well:"}, call("c-1", &first), call("c-2", &second)]}}, "stopReason": "tool_use"})
        }
    }
}

fn reply(provider: Provider) -> ModelReply {
    provider.reply(&body(provider).to_string()).unwrap()
}

/// Stores a thread: a question, the message with two calls, their results, and a final message.
async fn thread(message: ModelMessage) -> Vec<Message> {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("th")
        .build();
    turns.say("Which numbers?", &cx).await.unwrap();
    let stored = turns.record(message, &cx).await.unwrap();
    turns.run(&toolset![look_up], &stored, &cx).await.unwrap();
    turns
        .record(ModelMessage::text("Done."), &cx)
        .await
        .unwrap();
    let thread = ThreadId::new("acme", "th").unwrap();
    ThreadStore::read(&store, &thread, None).await.unwrap()
}

fn texts(messages: &[Box<serde_json::value::RawValue>]) -> String {
    messages.iter().map(|raw| raw.get()).collect()
}

/// Returns the numbers of the calls and of the results in a request.
fn counts(provider: Provider, text: &str) -> (usize, usize) {
    let (calls, results) = match provider {
        Provider::Chat => (r#""type":"function""#, r#""tool_call_id""#),
        Provider::Responses => (r#""function_call""#, r#""function_call_output""#),
        Provider::Anthropic => (r#""tool_use""#, r#""tool_result""#),
        Provider::Gemini => (r#""functionCall""#, r#""functionResponse""#),
        Provider::Bedrock => (r#""toolUse""#, r#""toolResult""#),
    };
    (text.matches(calls).count(), text.matches(results).count())
}

// A thread can be continued at any other origin, in every ordered pair of providers and at a different endpoint or model of the same provider. A
// request with the opaque parts of a different origin would fail, and so would every later request of the thread.
#[tokio::test]
async fn opaque_parts_are_sent_only_to_their_origin() {
    for from in Provider::ALL {
        let thread = thread(reply(from).with_origin("first").into_message()).await;
        for to in Provider::ALL {
            for origin in ["first", "second"] {
                let history = to.history_for(&thread, origin).unwrap();
                let text = texts(&history.messages);
                for part in KEPT {
                    assert!(text.contains(part), "{from} to {to}, no {part}: {text}");
                }
                assert_eq!(counts(to, &text), (2, 2), "{from} to {to}: {text}");
                if from == to && origin == "first" {
                    let own = to.history(&thread).unwrap();
                    assert_eq!(text, texts(&own.messages), "{from}");
                    assert!(text.contains("opaque-"), "{text}");
                    continue;
                }
                for part in OPAQUE {
                    assert!(!text.contains(part), "{from} to {to}, {part}: {text}");
                }
            }
        }
    }
}

// A message without an origin was stored by an earlier version: it is sent unchanged to its provider, at any origin.
#[tokio::test]
async fn message_without_an_origin_is_sent_to_its_provider() {
    for provider in Provider::ALL {
        let message = reply(provider).into_message();
        assert!(!serde_json::to_string(&message).unwrap().contains("origin"));
        let thread = thread(message).await;
        let history = provider.history_for(&thread, "any").unwrap();
        let unchanged = provider.history(&thread).unwrap();
        assert_eq!(texts(&history.messages), texts(&unchanged.messages));
    }
    let written: Written =
        serde_json::from_str(r#"{"provider":"anthropic","messages":"[]"}"#).unwrap();
    assert_eq!(written.origin, None);
    let written = Written {
        origin: Some("first".to_owned()),
        ..written
    };
    assert_eq!(
        serde_json::to_value(&written).unwrap(),
        json!({"provider": "anthropic", "origin": "first", "messages": "[]"})
    );
}

// Gemini 3 refuses a message whose first call has no signature. The placeholder is documented for calls that Gemini did not write at this origin.
#[tokio::test]
async fn rewritten_calls_have_the_placeholder_of_gemini() {
    let signatures = |messages: &[Box<serde_json::value::RawValue>]| -> Vec<Value> {
        let mut signatures = Vec::new();
        for message in messages {
            let message: Value = serde_json::from_str(message.get()).unwrap();
            for part in message["parts"].as_array().unwrap() {
                if part["functionCall"].is_null() {
                    assert!(part["thoughtSignature"].is_null(), "{part}");
                } else {
                    signatures.push(part["thoughtSignature"].clone());
                }
            }
        }
        signatures
    };
    let placeholder = [json!("skip_thought_signature_validator"), Value::Null];
    for from in Provider::ALL {
        let thread = thread(reply(from).with_origin("first").into_message()).await;
        let history = Provider::Gemini.history_for(&thread, "second").unwrap();
        assert_eq!(signatures(&history.messages), placeholder, "{from}");
        if from != Provider::Gemini {
            let history = Provider::Gemini.history(&thread).unwrap();
            assert_eq!(signatures(&history.messages), placeholder, "{from}");
        }
    }
    let message = reply(Provider::Chat).into_message();
    let written = Provider::Gemini.assistant(&message);
    assert_eq!(signatures(&written), placeholder);
}

/// Returns the ids of the calls, and of the results, in the order of a request.
fn ids(provider: Provider, messages: &[Box<serde_json::value::RawValue>]) -> [Vec<String>; 2] {
    fn find(value: &Value, under: &str, key: &str, into: &mut Vec<String>) {
        let fields = value.as_object().into_iter().flatten();
        for (name, inner) in fields {
            if name == under {
                for item in inner.as_array().unwrap_or(&vec![inner.clone()]) {
                    into.extend(item[key].as_str().map(str::to_owned));
                }
            }
            find(inner, under, key, into);
        }
        for item in value.as_array().into_iter().flatten() {
            find(item, under, key, into);
        }
    }
    let [mut calls, mut results] = [Vec::new(), Vec::new()];
    for message in messages {
        let message: Value = serde_json::from_str(message.get()).unwrap();
        match provider {
            Provider::Chat => {
                find(&message, "tool_calls", "id", &mut calls);
                results.extend(message["tool_call_id"].as_str().map(str::to_owned));
            }
            Provider::Responses | Provider::Anthropic => {
                let items = match &message["content"] {
                    Value::Array(items) => items.clone(),
                    _ => vec![message],
                };
                for item in items {
                    let text = |key: &str| item[key].as_str().map(str::to_owned);
                    match item["type"].as_str() {
                        Some("function_call") => calls.extend(text("call_id")),
                        Some("function_call_output") => results.extend(text("call_id")),
                        Some("tool_use") => calls.extend(text("id")),
                        Some("tool_result") => results.extend(text("tool_use_id")),
                        _ => {}
                    }
                }
            }
            Provider::Gemini => {
                find(&message, "functionCall", "id", &mut calls);
                find(&message, "functionResponse", "id", &mut results);
            }
            Provider::Bedrock => {
                find(&message, "toolUse", "toolUseId", &mut calls);
                find(&message, "toolResult", "toolUseId", &mut results);
            }
        }
    }
    [calls, results]
}

// Servers repeat ids in different responses, and use characters and lengths that other providers refuse. Such ids are
// replaced, in the call and in its result, except for Gemini, and except in messages for Chat Completions that the server itself may have written.
// Later requests have the same ids.
#[tokio::test]
async fn ids_that_a_provider_would_refuse_are_replaced() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("th")
        .build();
    let long = "a".repeat(41);
    let longer = "b".repeat(65);
    let steps = [
        vec!["call_0", "functions.look_up:1"],
        vec!["call_0", "fine-1_A"],
        vec![&*long, &*longer],
    ];
    let thread = ThreadId::new("acme", "th").unwrap();
    turns.say("Which numbers?", &cx).await.unwrap();
    for from in [None, Some("elsewhere")] {
        for step in &steps {
            let call = |id: &&str| ToolCall::new(*id, "look_up", r#"{"name":"alpha"}"#);
            let written = from.map(|from: &str| Written {
                provider: from.to_owned(),
                origin: None,
                messages: "[]".to_owned(),
            });
            let message = ModelMessage {
                written,
                ..ModelMessage::calls(step.iter().map(call))
            };
            let stored = turns.record(message, &cx).await.unwrap();
            turns.run(&toolset![look_up], &stored, &cx).await.unwrap();
        }
    }
    let messages = ThreadStore::read(&store, &thread, None).await.unwrap();
    let as_stored: Vec<&str> = steps.iter().flatten().copied().collect();
    for provider in Provider::ALL {
        let history = provider.history(&messages).unwrap();
        let [calls, results] = ids(provider, &history.messages);
        assert_eq!(calls.len(), 12, "{provider}: {calls:?}");
        assert_eq!(calls, results, "{provider}");
        let replaced: Vec<bool> = calls
            .iter()
            .zip(as_stored.iter().chain(&as_stored))
            .map(|(id, stored)| id != stored)
            .collect();
        let expected = match provider {
            Provider::Gemini => [false; 12],
            // The first half may have come from the server itself.
            Provider::Chat => [
                false, false, false, false, false, false, //
                true, true, true, true, true, true,
            ],
            Provider::Responses | Provider::Anthropic | Provider::Bedrock => [
                false, true, true, false, false, true, //
                true, true, true, true, true, true,
            ],
        };
        assert_eq!(replaced, expected, "{provider}: {calls:?}");
        if matches!(provider, Provider::Chat | Provider::Gemini) {
            continue;
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let valid = |id: &String| id.len() <= 64 && id.chars().all(plain);
        assert!(calls.iter().all(valid), "{provider}: {calls:?}");
        let unique: std::collections::HashSet<_> = calls.iter().collect();
        assert_eq!(unique.len(), 12, "{provider}: {calls:?}");
        // A shorter thread has the same ids.
        let shorter = provider.history(&messages[..4]).unwrap();
        let [first, _] = ids(provider, &shorter.messages);
        assert_eq!(first, calls[..2], "{provider}");
    }
}
