//! Tests of reading tool calls from providers' replies.

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::turn::ModelMessage;
use tool_wire::{Delta, Provider, StopReason};

use crate::support::{feed, forecast, recorded, streamed};

const FIRST: &str = r#"{"city":"Zürich","days":3}"#;
pub(crate) const SECOND: &str =
    r#"{"query":"a \"b\" \u2615","limits":[1,2.50,9007199254740993],"exact":true}"#;

fn ids(provider: Provider) -> [&'static str; 2] {
    match provider {
        Provider::Chat | Provider::Responses => ["call_Aa1", "call_Bb2"],
        Provider::Anthropic => ["toolu_01Aa", "toolu_01Bb"],
        Provider::Gemini => ["gemini_call_Zx-9-aQ_0", "fc-7"],
        Provider::Bedrock => ["tooluse_Aa", "tooluse_Bb"],
    }
}

// S2-14: complete and streamed replies contain the same calls, in the model's order
#[test]
fn complete_and_streamed_replies_have_the_same_calls() {
    for provider in Provider::ALL {
        let (whole, stream) = recorded(provider);
        let [first, second] = ids(provider);
        let expected = [
            ToolCall::new(first, "forecast", FIRST),
            ToolCall::new(second, "search", SECOND),
        ];
        let whole = provider.reply(whole).unwrap();
        let stream = streamed(provider, stream).unwrap();
        for reply in [&whole, &stream] {
            assert_eq!(reply.text(), "Ich sehe nach: ☕", "{provider}");
            assert_eq!(reply.calls(), expected, "{provider}");
            assert_eq!(reply.stop(), &StopReason::Calls, "{provider}");
            assert!(!reply.is_truncated());
        }
    }
}

// The deltas that an interface shows while a reply streams add up to the reply.
#[test]
fn stream_deltas_add_up_to_the_reply() {
    for provider in Provider::ALL {
        let (_, body) = recorded(provider);
        let mut stream = provider.stream();
        let mut news = Vec::new();
        if provider == Provider::Bedrock {
            for line in body.lines() {
                news.extend(stream.event(line).unwrap());
            }
        } else {
            news.extend(stream.feed(body.as_bytes()).unwrap());
        }
        let reply = stream.finish().unwrap();
        let (mut text, mut reasoning) = (String::new(), String::new());
        let mut calls = Vec::<ToolCall>::new();
        for delta in news {
            match delta {
                Delta::Reasoning(piece) => reasoning.push_str(&piece),
                Delta::Text(piece) => text.push_str(&piece),
                Delta::Call { id, name } => calls.push(ToolCall::new(id, name, "")),
                Delta::Arguments { id, text } => {
                    let call = calls.iter_mut().find(|call| call.id == id).unwrap();
                    call.arguments.push_str(&text);
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(text, reply.text(), "{provider}");
        assert_eq!(reasoning, reply.reasoning(), "{provider}");
        assert_eq!(calls, reply.calls(), "{provider}");
    }
}

// Reasoning and its signatures are sent back unchanged and in the same position, as providers require.
#[test]
fn model_message_is_sent_back_unchanged() {
    let sent_back = |provider: Provider, whole: bool| -> Vec<Value> {
        let (body, stream) = recorded(provider);
        let reply = if whole {
            provider.reply(body)
        } else {
            streamed(provider, stream)
        };
        let messages = provider.assistant(reply.unwrap().message());
        let value = |raw: &Box<_>| serde_json::to_value(raw).unwrap();
        messages.iter().map(value).collect()
    };
    let second: Value = serde_json::from_str(SECOND).unwrap();
    for whole in [true, false] {
        assert_eq!(
            sent_back(Provider::Chat, whole),
            [json!({
                "role": "assistant", "content": "Ich sehe nach: ☕",
                "tool_calls": [
                    {"id": "call_Aa1", "type": "function", "function": {"name": "forecast", "arguments": FIRST}},
                    {"id": "call_Bb2", "type": "function", "function": {"name": "search", "arguments": SECOND}},
                ],
            })]
        );
        let items = sent_back(Provider::Responses, whole);
        assert_eq!(items.len(), 4);
        assert_eq!(items[0]["encrypted_content"], "gAAAAB==");
        assert_eq!(items[3]["arguments"], SECOND);
        assert_eq!(
            sent_back(Provider::Anthropic, whole),
            [json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "Two look-ups.", "signature": "EqQB=="},
                {"type": "text", "text": "Ich sehe nach: ☕"},
                {"type": "tool_use", "id": "toolu_01Aa", "name": "forecast", "input": {"city": "Zürich", "days": 3}},
                {"type": "tool_use", "id": "toolu_01Bb", "name": "search", "input": second},
            ]})]
        );
        let content = &sent_back(Provider::Gemini, whole)[0];
        assert_eq!(content["role"], "model");
        let parts = content["parts"].as_array().unwrap();
        let signed = parts
            .iter()
            .find(|part| !part["thoughtSignature"].is_null());
        assert_eq!(
            signed.unwrap(),
            &json!({"functionCall": {"name": "forecast", "args": {"city": "Zürich", "days": 3}}, "thoughtSignature": "Eu4B"})
        );
        assert_eq!(
            sent_back(Provider::Bedrock, whole)[0]["content"],
            json!([
                {"reasoningContent": {"reasoningText": {"text": "Two look-ups.", "signature": "EqQB=="}}},
                {"text": "Ich sehe nach: ☕"},
                {"toolUse": {"toolUseId": "tooluse_Aa", "name": "forecast", "input": {"city": "Zürich", "days": 3}}},
                {"toolUse": {"toolUseId": "tooluse_Bb", "name": "search", "input": second}},
            ])
        );
    }
}

/// Returns the input of the only call of a message that is sent back.
fn input_sent_back(provider: Provider, message: &ModelMessage) -> Value {
    let messages = provider.assistant(message);
    let sent: Value = serde_json::from_str(messages[0].get()).unwrap();
    let input = match provider {
        Provider::Chat => &sent["tool_calls"][0]["function"]["arguments"],
        Provider::Responses => &sent["arguments"],
        Provider::Anthropic => &sent["content"][0]["input"],
        Provider::Gemini => &sent["parts"][0]["functionCall"]["args"],
        Provider::Bedrock => &sent["content"][0]["toolUse"]["input"],
    };
    input.clone()
}

// M10: code fences, trailing commas, a byte order mark, JSON inside a string and an object inside a list are repaired, so these calls run. If such a
// call were sent back without arguments, the model would see a result that does not belong to its call.
#[tokio::test]
async fn repaired_arguments_are_sent_back_as_the_object_that_ran() {
    for given in [
        "```json\n{\"city\":\"Basel\",\"days\":2}\n```",
        "{\"city\":\"Basel\",\"days\":2,}",
        "\u{feff}{\"city\":\"Basel\",\"days\":2}",
        r#""{\"city\":\"Basel\",\"days\":2}""#,
        r#"[{"city":"Basel","days":2}]"#,
    ] {
        let call = ToolCall::new("c", "forecast", given);
        let result = toolset![forecast]
            .call(call.clone(), &ToolContext::anonymous())
            .await;
        assert_eq!(result.output().unwrap().get(), r#""Basel: 2 days of rain""#);
        assert!(!result.repairs().is_empty());
        let message = ModelMessage {
            calls: vec![call],
            ..ModelMessage::default()
        };
        let object = json!({"city": "Basel", "days": 2});
        for provider in [Provider::Anthropic, Provider::Gemini, Provider::Bedrock] {
            let sent = input_sent_back(provider, &message);
            assert_eq!(sent, object, "{provider}: {given}");
        }
        // OpenAI's formats have the arguments as text, so they contain the model's own text.
        for provider in [Provider::Chat, Provider::Responses] {
            assert_eq!(input_sent_back(provider, &message), given, "{provider}");
        }
    }
}

// Anthropic, Gemini and Bedrock accept only an object, so arguments that cannot be repaired become an empty object.
#[test]
fn arguments_that_cannot_be_repaired_are_sent_back_as_an_empty_object() {
    for given in ["", "null", "{\"city\":\"Ba", "[1,2]", "7", "```json\n{"] {
        let message = ModelMessage {
            calls: vec![ToolCall::new("c", "forecast", given)],
            ..ModelMessage::default()
        };
        for provider in [Provider::Anthropic, Provider::Gemini, Provider::Bedrock] {
            let sent = input_sent_back(provider, &message);
            assert_eq!(sent, json!({}), "{provider}: {given}");
        }
    }
}

// Anthropic sends the arguments of a streamed call as text, which is stored with the provider's own blocks.
#[test]
fn arguments_in_a_providers_own_blocks_are_sent_back_repaired() {
    let events = [
        json!({"type": "content_block_start", "index": 0,
            "content_block": {"type": "tool_use", "id": "c", "name": "forecast", "input": {}}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "{\"city\":\"Basel\",}"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
    ];
    let mut stream = Provider::Anthropic.stream();
    for event in events {
        stream.event(&event.to_string()).unwrap();
    }
    let reply = stream.finish().unwrap();
    assert_eq!(reply.calls()[0].arguments, "{\"city\":\"Basel\",}");
    assert_eq!(
        input_sent_back(Provider::Anthropic, reply.message()),
        json!({"city": "Basel"})
    );
}

// Without its content, a compaction block has no effect: every later request would contain the messages that it replaces, and
// the host would pay for them.
#[test]
fn streamed_compaction_is_sent_back_with_its_content() {
    let events = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "compaction", "content": null}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "compaction_delta", "content": "A summary.", "encrypted_content": "opaque"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
    ];
    let mut stream = Provider::Anthropic.stream();
    for event in events {
        assert_eq!(stream.event(&event.to_string()), Ok(Vec::new()));
    }
    let sent = Provider::Anthropic.assistant(stream.finish().unwrap().message());
    let sent: Value = serde_json::from_str(sent[0].get()).unwrap();
    assert_eq!(
        sent["content"],
        json!([{"type": "compaction", "content": "A summary.", "encrypted_content": "opaque"}])
    );
}

// Big numbers and duplicate keys reach the tool's own check.
#[test]
fn arguments_are_the_text_that_the_model_wrote() {
    let odd = r#"{"a":12345678901234567890.0500,"a":1e400,"b": [ ]}"#;
    let quoted = Value::from(odd).to_string();
    let bodies = [
        (
            Provider::Chat,
            format!(
                r#"{{"choices":[{{"message":{{"tool_calls":[{{"id":"c","function":{{"name":"t","arguments":{quoted}}}}}]}},"finish_reason":"tool_calls"}}]}}"#
            ),
        ),
        (
            Provider::Responses,
            format!(
                r#"{{"status":"completed","output":[{{"type":"function_call","call_id":"c","name":"t","arguments":{quoted}}}]}}"#
            ),
        ),
        (
            Provider::Anthropic,
            format!(
                r#"{{"content":[{{"type":"tool_use","id":"c","name":"t","input":{odd}}}],"stop_reason":"tool_use"}}"#
            ),
        ),
        (
            Provider::Gemini,
            format!(
                r#"{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"id":"c","name":"t","args":{odd}}}}}]}},"finishReason":"STOP"}}]}}"#
            ),
        ),
        (
            Provider::Bedrock,
            format!(
                r#"{{"output":{{"message":{{"content":[{{"toolUse":{{"toolUseId":"c","name":"t","input":{odd}}}}}]}}}},"stopReason":"tool_use"}}"#
            ),
        ),
    ];
    for (provider, body) in bodies {
        let reply = provider.reply(&body).unwrap();
        assert_eq!(reply.calls(), [ToolCall::new("c", "t", odd)], "{provider}");
        // The same text is sent back to the provider.
        let message = &provider.assistant(reply.message())[0];
        let kept = message.get().contains(odd) || message.get().contains(&quoted);
        assert!(kept, "{provider}: {message}");
    }
}

// Empty arguments for a tool without parameters are a valid call.
#[test]
fn empty_arguments_are_an_empty_object() {
    let body = r#"{"content":[{"type":"tool_use","id":"c","name":"t","input":{}}],"stop_reason":"tool_use"}"#;
    let reply = Provider::Anthropic.reply(body).unwrap();
    assert_eq!(reply.calls()[0].arguments, "{}");
    let events = r#"data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"t","input":{}}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"tool_use"}}

"#;
    let reply = streamed(Provider::Anthropic, events).unwrap();
    assert_eq!(reply.calls()[0].arguments, "{}");
    let body = r#"{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"t","arguments":""}}]},"finish_reason":"tool_calls"}]}"#;
    assert_eq!(
        Provider::Chat.reply(body).unwrap().calls()[0].arguments,
        "{}"
    );
    let body = r#"{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t"}}]},"finishReason":"STOP"}]}"#;
    assert_eq!(
        Provider::Gemini.reply(body).unwrap().calls()[0].arguments,
        "{}"
    );
}

// Generated ids are deterministic, differ within a reply and between replies, and are not sent back.
#[test]
fn ids_that_gemini_omits_are_generated() {
    let body = |response: &str| {
        format!(
            r#"{{"responseId":"{response}","candidates":[{{"content":{{"parts":[
                {{"functionCall":{{"name":"search"}}}},{{"functionCall":{{"name":"search","id":""}}}}
            ]}},"finishReason":"STOP"}}]}}"#
        )
    };
    let ids = |response: &str| {
        let reply = Provider::Gemini.reply(&body(response)).unwrap();
        let ids: Vec<_> = reply.calls().iter().map(|call| call.id.clone()).collect();
        ids
    };
    assert_eq!(
        ids("a/b+1="),
        ["gemini_call_a-b-1-_0", "gemini_call_a-b-1-_1"]
    );
    assert_eq!(ids("a/b+1="), ids("a/b+1="));
    assert_ne!(ids("a"), ids("b"));

    // A message that is written from its parts does not contain the generated id.
    let mut message = Provider::Gemini.reply(&body("a")).unwrap().into_message();
    message.written = None;
    let written = Provider::Gemini.assistant(&message)[0].to_string();
    assert!(!written.contains("gemini_call_"), "{written}");
}

// Compatible servers number and repeat pieces differently.
#[test]
fn chat_completions_variants_are_accepted() {
    let read = |deltas: &[&str]| {
        let mut stream = Provider::Chat.stream();
        for delta in deltas {
            let event = format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{delta}]}}}}]}}"#);
            stream.event(&event).unwrap();
        }
        let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
        feed(Provider::Chat, &mut stream, &format!("data: {end}\n\n")).unwrap();
        let reply = stream.finish().unwrap();
        let call = |call: &ToolCall| format!("{} {} {}", call.id, call.name, call.arguments);
        reply.calls().iter().map(call).collect::<Vec<_>>()
    };
    // Every call has the number 0.
    let zero = read(&[
        r#"{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}"#,
        r#"{"index":0,"id":"b","function":{"name":"y","arguments":"{\"n\":"}}"#,
        r#"{"index":0,"function":{"arguments":"1}"}}"#,
    ]);
    assert_eq!(zero, ["a x {}", r#"b y {"n":1}"#]);
    // Each piece repeats id, type and name.
    let repeated = read(&[
        r#"{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":"{\"n\":"}}"#,
        r#"{"index":0,"id":"a","type":"function","function":{"name":"x","arguments":"1}"}}"#,
    ]);
    assert_eq!(repeated, [r#"a x {"n":1}"#]);
    // The pieces have neither numbers nor ids.
    let bare = read(&[
        r#"{"function":{"name":"x","arguments":"{}"}}"#,
        r#"{"function":{"name":"x","arguments":"{\"n\":"}}"#,
        r#"{"function":{"arguments":"2}"}}"#,
    ]);
    assert_eq!(bare, ["call_0 x {}", r#"call_1 x {"n":2}"#]);
}

// Calls that a provider runs itself are not tool calls of the host, and are sent back unchanged.
#[test]
fn provider_run_tools_are_not_calls() {
    let body = r#"{"content":[
        {"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"x"}},
        {"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}
    ],"stop_reason":"pause_turn"}"#;
    let reply = Provider::Anthropic.reply(body).unwrap();
    assert!(reply.calls().is_empty());
    assert_eq!(reply.stop(), &StopReason::Paused);
    let messages = Provider::Anthropic.assistant(reply.message());
    assert!(messages[0].get().contains("srvtoolu_1"));

    let body = r#"{"status":"completed","output":[{"type":"web_search_call","id":"ws_1","status":"completed"}]}"#;
    let reply = Provider::Responses.reply(body).unwrap();
    assert!(reply.calls().is_empty());
    assert_eq!(reply.stop(), &StopReason::End);

    let body = r#"{"output":{"message":{"content":[{"toolUse":{"toolUseId":"s","name":"x","input":{},"type":"server_tool_use"}}]}},"stopReason":"end_turn"}"#;
    assert!(Provider::Bedrock.reply(body).unwrap().calls().is_empty());
}
