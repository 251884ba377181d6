//! Ids of calls: generated if the provider sends none, and refused if two calls of one response share an id.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::turn::ModelMessage;
use tool_wire::{Delta, ModelReply, Provider, WireError};

/// Looks a number up.
#[tool(read_only)]
async fn look_up() -> u32 {
    7
}

/// Counts to a number.
#[tool(read_only)]
async fn count() -> u32 {
    8
}

/// Returns the key of a call's id in the provider's format.
fn key(provider: Provider) -> &'static str {
    match provider {
        Provider::Responses => "call_id",
        Provider::Bedrock => "toolUseId",
        Provider::Chat | Provider::Anthropic | Provider::Gemini => "id",
    }
}

/// Returns an object of a call with this id, or without the key for `None`.
fn call(provider: Provider, id: Option<&Value>, rest: Value) -> Value {
    let mut call = rest;
    if let Some(id) = id {
        call[key(provider)] = id.clone();
    }
    call
}

/// Returns the whole body and the events of a response that calls `look_up` and `count`, with these ids.
fn bodies(provider: Provider, ids: [Option<&Value>; 2]) -> (Value, Vec<Value>) {
    let names = ["look_up", "count"];
    let calls = |of: &dyn Fn(usize, &str) -> Value| -> Vec<Value> {
        let calls = names.iter().enumerate();
        calls
            .map(|(at, name)| call(provider, ids[at], of(at, name)))
            .collect()
    };
    match provider {
        Provider::Chat => {
            let whole = calls(
                &|_, name| json!({"type": "function", "function": {"name": name, "arguments": "{}"}}),
            );
            let pieces = calls(
                &|at, name| json!({"index": at, "type": "function", "function": {"name": name, "arguments": ""}}),
            );
            let begun = pieces
                .iter()
                .map(|call| json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
            let more = (0..2).map(|at| {
                let piece = json!({"index": at, "function": {"arguments": "{}"}});
                json!({"choices": [{"delta": {"tool_calls": [piece]}}]})
            });
            let end = json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
            (
                json!({"choices": [{"message": {"tool_calls": whole}, "finish_reason": "tool_calls"}]}),
                begun.chain(more).chain([end]).collect(),
            )
        }
        Provider::Responses => {
            let items = calls(
                &|at, name| json!({"type": "function_call", "id": format!("fc_{at}"), "status": "completed", "name": name, "arguments": "{}"}),
            );
            let event = |kind: &str, at: usize| {
                let kind = format!("response.output_item.{kind}");
                json!({"type": kind, "output_index": at, "item": items[at]})
            };
            let whole = json!({"status": "completed", "output": items});
            let end = json!({"type": "response.completed", "response": whole});
            let events = vec![
                event("added", 0),
                event("added", 1),
                json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"}),
                event("done", 0),
                event("done", 1),
                end,
            ];
            (whole, events)
        }
        Provider::Anthropic => {
            let blocks = calls(&|_, name| json!({"type": "tool_use", "name": name, "input": {}}));
            let begin = |at: usize| json!({"type": "content_block_start", "index": at, "content_block": blocks[at]});
            let stop = |at: usize| json!({"type": "content_block_stop", "index": at});
            let end = json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}});
            let events = vec![begin(0), stop(0), begin(1), stop(1), end];
            (
                json!({"content": blocks, "stop_reason": "tool_use"}),
                events,
            )
        }
        Provider::Gemini => {
            let calls = calls(&|_, name| json!({"name": name, "args": {}}));
            let parts: Vec<Value> = calls
                .iter()
                .map(|call| json!({"functionCall": call}))
                .collect();
            let body = |parts: &[Value], finish: Value| {
                json!({"candidates": [
                {"content": {"role": "model", "parts": parts}, "finishReason": finish}]})
            };
            let events = vec![
                body(&parts[..1], Value::Null),
                body(&parts[1..], "STOP".into()),
            ];
            (body(&parts, "STOP".into()), events)
        }
        Provider::Bedrock => {
            let whole = calls(&|_, name| json!({"name": name, "input": {}}));
            let starts = calls(&|_, name| json!({"name": name}));
            let content: Vec<Value> = whole.iter().map(|call| json!({"toolUse": call})).collect();
            let start = |at: usize| json!({"contentBlockStart": {"contentBlockIndex": at, "start": {"toolUse": starts[at]}}});
            let stop = |at: usize| json!({"contentBlockStop": {"contentBlockIndex": at}});
            let end = json!({"messageStop": {"stopReason": "tool_use"}});
            (
                json!({"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"}),
                vec![start(0), stop(0), start(1), stop(1), end],
            )
        }
    }
}

fn streamed(provider: Provider, events: &[Value]) -> (Result<ModelReply, WireError>, Vec<Delta>) {
    let (mut stream, mut news) = (provider.stream(), Vec::new());
    for event in events {
        news.extend(stream.event(&event.to_string()).unwrap());
    }
    (stream.finish(), news)
}

fn ids(message: &ModelMessage) -> [&str; 2] {
    let [first, second] = message.calls.as_slice() else {
        panic!("{message:?}")
    };
    assert_eq!([&*first.name, &*second.name], ["look_up", "count"]);
    [&first.id, &second.id]
}

/// Returns every value of a key in a JSON value.
fn found(value: &Value, key: &str, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if name == key
                    && let Some(text) = value.as_str()
                {
                    into.push(text.to_owned());
                }
                found(value, key, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| found(item, key, into)),
        _ => {}
    }
}

// A call whose id is missing, empty or blank gets a generated id, which differs from the ids of the other calls. The call and its result are sent
// back with this id. Gemini accepts calls without an id, and never receives a generated one.
#[tokio::test]
async fn missing_and_empty_ids_are_generated() {
    let (empty, blank, null) = (json!(""), json!(" "), Value::Null);
    // In the last case, the first call has the id that would be generated for the second call.
    let taken = json!("call_1");
    for provider in Provider::ALL {
        for given in [
            [None, None],
            [Some(&empty), Some(&empty)],
            [Some(&blank), Some(&null)],
            [Some(&taken), Some(&empty)],
        ] {
            let (whole, events) = bodies(provider, given);
            let (stream, news) = streamed(provider, &events);
            let stream = stream.unwrap();
            let begun: Vec<&str> = news
                .iter()
                .filter_map(|delta| match delta {
                    Delta::Call { id, .. } => Some(&**id),
                    _ => None,
                })
                .collect();
            assert_eq!(begun, ids(stream.message()), "{provider} {given:?}");
            for reply in [provider.reply(&whole.to_string()).unwrap(), stream] {
                let [first, second] = ids(reply.message());
                assert_ne!(first, second, "{provider} {given:?}");
                assert!(!first.trim().is_empty() && !second.trim().is_empty());
                assert_eq!(first == "call_1", given[0] == Some(&taken), "{provider}");
                let mut results = Vec::new();
                for call in reply.calls() {
                    let tools = toolset![look_up, count];
                    results.push(tools.call(call.clone(), &ToolContext::anonymous()).await);
                }
                let mut sent = provider.assistant(reply.message());
                sent.extend(
                    provider
                        .results(reply.message(), &results)
                        .unwrap()
                        .messages,
                );
                let sent: Vec<Value> = sent
                    .iter()
                    .map(|message| serde_json::from_str(message.get()).unwrap())
                    .collect();
                let sent = json!(sent);
                if provider == Provider::Gemini {
                    assert!(!sent.to_string().contains("gemini_call_"), "{sent}");
                    continue;
                }
                let (mut calls, mut answers) = (Vec::new(), Vec::new());
                let results = match provider {
                    Provider::Chat => "tool_call_id",
                    Provider::Anthropic => "tool_use_id",
                    _ => key(provider),
                };
                found(&sent, key(provider), &mut calls);
                found(&sent, results, &mut answers);
                calls.retain(|id| !id.starts_with("fc_"));
                let expected = if results == key(provider) {
                    vec![first, second, first, second]
                } else {
                    assert_eq!(answers, [first, second], "{provider}: {sent}");
                    vec![first, second]
                };
                assert_eq!(calls, expected, "{provider}: {sent}");
            }
        }
    }
}

// A response in which two calls have the same id is invalid, whole or streamed, so that nothing runs.
#[test]
fn response_with_a_repeated_id_is_refused() {
    let id = json!("c-1");
    for provider in Provider::ALL {
        let (whole, events) = bodies(provider, [Some(&id), Some(&id)]);
        let expected = WireError::RepeatedId {
            provider,
            id: "c-1".to_owned(),
        };
        let whole = provider.reply(&whole.to_string());
        assert_eq!(whole.unwrap_err(), expected, "{provider}");
        let (stream, _) = streamed(provider, &events);
        assert_eq!(stream.unwrap_err(), expected, "{provider}");
        assert_eq!(
            expected.to_string(),
            format!(
                "{provider} sent two calls with the id `c-1` in one response, so none of its calls is run: send the request again"
            )
        );
        // The same ids in different responses are valid.
        let other = json!("c-2");
        let (whole, _) = bodies(provider, [Some(&id), Some(&other)]);
        for _ in 0..2 {
            assert!(provider.reply(&whole.to_string()).is_ok());
        }
    }
}

// A Chat Completions server may number every call 0: the name shows that a piece with the same number and without a new id begins a call.
#[test]
fn chat_pieces_with_a_new_name_begin_a_new_call() {
    let read = |second: Value| {
        let piece = |call: Value| json!({"choices": [{"delta": {"tool_calls": [call]}}]});
        let first =
            json!({"index": 0, "id": "a", "function": {"name": "look_up", "arguments": "{}"}});
        let end = json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]});
        let events = [piece(first), piece(second), end];
        streamed(Provider::Chat, &events).0
    };
    let count = json!({"name": "count", "arguments": "{}"});
    let reply = read(json!({"index": 0, "function": count})).unwrap();
    assert_eq!(ids(reply.message()), ["a", "call_1"]);
    let repeated = read(json!({"index": 0, "id": "a", "function": count})).unwrap_err();
    assert!(
        matches!(&repeated, WireError::RepeatedId { id, .. } if id == "a"),
        "{repeated}"
    );
}

// A Responses item may get its id only when it is complete: the call keeps the id under which it was announced.
#[test]
fn announced_id_of_a_responses_call_remains() {
    let item = |id: &str| {
        json!({"type": "function_call", "id": "fc_1", "status": "completed", "call_id": id,
        "name": "look_up", "arguments": "{\"n\":1.50}"})
    };
    let event = |kind: &str, id: &str| json!({"type": format!("response.output_item.{kind}"), "output_index": 0, "item": item(id)});
    for (added, done, expected) in [
        ("", "late", "call_0"),
        ("early", "", "early"),
        ("early", "early", "early"),
    ] {
        let end = json!({"type": "response.completed", "response": {"status": "completed"}});
        let events = [event("added", added), event("done", done), end];
        let (reply, news) = streamed(Provider::Responses, &events);
        let reply = reply.unwrap();
        assert_eq!(reply.calls()[0].id, expected);
        assert!(matches!(&news[..], [Delta::Call { id, .. }] if id == expected));
        let sent = Provider::Responses.assistant(reply.message());
        assert_eq!(
            serde_json::from_str::<Value>(sent[0].get()).unwrap(),
            item(expected)
        );
    }
}
