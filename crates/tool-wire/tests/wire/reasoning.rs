//! Reasoning of models: read, shown, stored, and sent back only to its own provider.

use serde_json::{Value, json};
use tool_core::Part;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Message, ThreadId, ThreadStore};
use tool_core::turn::{ModelMessage, Turn, Turns};
use tool_wire::ui::{Chunk, Writer};
use tool_wire::{Delta, ModelReply, Provider, WireError};

/// Looks a number up.
#[tool(read_only)]
async fn look_up() -> u32 {
    7
}

const FIRST: &str = "It asks for a number.";
const SECOND: &str = "A look-up has it.";

/// A complete body, and the events of a stream.
type Bodies = (Value, Vec<Value>);

/// Returns a reply with two blocks of reasoning, a text and a call.
fn bodies(provider: Provider) -> Bodies {
    match provider {
        Provider::Chat => chat(),
        Provider::Responses => responses(),
        Provider::Anthropic => anthropic(),
        Provider::Gemini => gemini(),
        Provider::Bedrock => bedrock(),
    }
}

fn chat() -> Bodies {
    (
        json!({"choices": [{"message": {"role": "assistant", "reasoning_content": format!("{FIRST}\n\n{SECOND}"), "content": "Well:",
                "tool_calls": [{"id": "c-1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]},
                "finish_reason": "tool_calls"}]}),
        vec![
            json!({"choices": [{"delta": {"role": "assistant", "content": null, "reasoning_content": FIRST}}]}),
            json!({"choices": [{"delta": {"content": "", "reasoning_content": format!("\n\n{SECOND}")}}]}),
            json!({"choices": [{"delta": {"content": "Well:", "reasoning_content": null}}]}),
            json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "c-1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]}}]}),
            json!({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}),
        ],
    )
}

fn responses() -> Bodies {
    let summary =
        json!([{"type": "summary_text", "text": FIRST}, {"type": "summary_text", "text": SECOND}]);
    let thought = json!({"id": "rs_1", "type": "reasoning", "summary": summary, "encrypted_content": "gAAA=="});
    let begun = json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": ""});
    let text = json!({"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "Well:", "annotations": []}]});
    let call = json!({"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "c-1", "name": "look_up", "arguments": "{}"});
    let done = |at: u32, item: &Value| json!({"type": "response.output_item.done", "output_index": at, "item": item});
    let more = |part: u32, delta: &str| json!({"type": "response.reasoning_summary_text.delta", "item_id": "rs_1", "output_index": 0, "summary_index": part, "delta": delta});
    let output = json!([thought, text, call]);
    (
        json!({"status": "completed", "output": output}),
        vec![
            json!({"type": "response.output_item.added", "output_index": 0, "item": begun}),
            json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0, "part": {"type": "summary_text", "text": ""}}),
            more(0, &FIRST[..5]),
            more(0, &FIRST[5..]),
            json!({"type": "response.reasoning_summary_text.done", "output_index": 0, "summary_index": 0, "text": FIRST}),
            more(1, SECOND),
            done(0, &thought),
            json!({"type": "response.output_item.added", "output_index": 1, "item": {"type": "message", "status": "in_progress", "role": "assistant", "content": []}}),
            json!({"type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": "Well:"}),
            done(1, &text),
            done(2, &call),
            json!({"type": "response.completed", "response": {"status": "completed", "output": output}}),
        ],
    )
}

fn anthropic() -> Bodies {
    let begin = |at: u32, block: Value| json!({"type": "content_block_start", "index": at, "content_block": block});
    let more =
        |at: u32, delta: Value| json!({"type": "content_block_delta", "index": at, "delta": delta});
    let stop = |at: u32| json!({"type": "content_block_stop", "index": at});
    let thinking = |text: &str, signature: &str| json!({"type": "thinking", "thinking": text, "signature": signature});
    (
        json!({"content": [thinking(FIRST, "sig-1"), {"type": "redacted_thinking", "data": "sig-2"}, thinking(SECOND, "sig-3"),
                    {"type": "text", "text": "Well:"}, {"type": "tool_use", "id": "c-1", "name": "look_up", "input": {}}], "stop_reason": "tool_use"}),
        vec![
            begin(0, thinking("", "")),
            more(
                0,
                json!({"type": "thinking_delta", "thinking": &FIRST[..5]}),
            ),
            more(
                0,
                json!({"type": "thinking_delta", "thinking": &FIRST[5..]}),
            ),
            more(0, json!({"type": "signature_delta", "signature": "sig-1"})),
            stop(0),
            begin(1, json!({"type": "redacted_thinking", "data": "sig-2"})),
            stop(1),
            begin(2, thinking("", "")),
            more(2, json!({"type": "thinking_delta", "thinking": SECOND})),
            more(2, json!({"type": "signature_delta", "signature": "sig-3"})),
            stop(2),
            begin(3, json!({"type": "text", "text": ""})),
            more(3, json!({"type": "text_delta", "text": "Well:"})),
            stop(3),
            begin(
                4,
                json!({"type": "tool_use", "id": "c-1", "name": "look_up", "input": {}}),
            ),
            stop(4),
            json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}),
        ],
    )
}

fn gemini() -> Bodies {
    let thought = |text: &str| json!({"text": text, "thought": true});
    let call = json!({"functionCall": {"id": "c-1", "name": "look_up", "args": {}}, "thoughtSignature": "sig-1"});
    let piece =
        |part: Value| json!({"candidates": [{"content": {"role": "model", "parts": [part]}}]});
    let all = format!("{FIRST}\n\n{SECOND}");
    (
        json!({"candidates": [{"content": {"role": "model", "parts": [thought(&all), {"text": "Well:"}, call]}, "finishReason": "STOP"}]}),
        vec![
            piece(thought(&all[..9])),
            piece(thought(&all[9..])),
            piece(json!({"text": "Well:"})),
            piece(call),
            json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]}),
        ],
    )
}

fn bedrock() -> Bodies {
    let thought = |text: &str, signature: &str| json!({"reasoningContent": {"reasoningText": {"text": text, "signature": signature}}});
    let more = |at: u32, delta: Value| json!({"contentBlockDelta": {"contentBlockIndex": at, "delta": delta}});
    let stop = |at: u32| json!({"contentBlockStop": {"contentBlockIndex": at}});
    (
        json!({"output": {"message": {"role": "assistant", "content": [thought(FIRST, "sig-1"), {"reasoningContent": {"redactedContent": "c2ln"}},
                    thought(SECOND, "sig-3"), {"text": "Well:"}, {"toolUse": {"toolUseId": "c-1", "name": "look_up", "input": {}}}]}}, "stopReason": "tool_use"}),
        vec![
            more(0, json!({"reasoningContent": {"text": &FIRST[..5]}})),
            more(0, json!({"reasoningContent": {"text": &FIRST[5..]}})),
            more(0, json!({"reasoningContent": {"signature": "sig-1"}})),
            stop(0),
            more(1, json!({"reasoningContent": {"redactedContent": "c2ln"}})),
            stop(1),
            more(2, json!({"reasoningContent": {"text": SECOND}})),
            more(2, json!({"reasoningContent": {"signature": "sig-3"}})),
            stop(2),
            more(3, json!({"text": "Well:"})),
            stop(3),
            json!({"contentBlockStart": {"contentBlockIndex": 4, "start": {"toolUse": {"toolUseId": "c-1", "name": "look_up"}}}}),
            stop(4),
            json!({"messageStop": {"stopReason": "tool_use"}}),
        ],
    )
}

fn whole(provider: Provider) -> ModelReply {
    provider.reply(&bodies(provider).0.to_string()).unwrap()
}

/// Reads the first `most` events of the stream. Returns the reply and the deltas.
fn streamed(provider: Provider, most: usize) -> (ModelReply, Vec<Delta>) {
    let (mut stream, mut news) = (provider.stream(), Vec::new());
    for event in bodies(provider).1.iter().take(most) {
        news.extend(stream.event(&event.to_string()).unwrap());
    }
    (stream.finish().unwrap(), news)
}

fn pieces(news: &[Delta]) -> String {
    let thought = |delta: &Delta| match delta {
        Delta::Reasoning(piece) => Some(piece.clone()),
        _ => None,
    };
    news.iter().filter_map(thought).collect()
}

// The reasoning text of each provider is read from complete and from streamed replies, separately from the reply's text.
#[test]
fn reasoning_is_read_from_every_provider_whole_and_streamed() {
    for provider in Provider::ALL {
        let expected = format!("{FIRST}\n\n{SECOND}");
        let (stream, news) = streamed(provider, usize::MAX);
        assert_eq!(pieces(&news), expected, "{provider}");
        for reply in [whole(provider), stream] {
            assert_eq!(reply.reasoning(), expected, "{provider}");
            assert_eq!(reply.message().reasoning, expected, "{provider}");
            assert_eq!(reply.text(), "Well:", "{provider}");
            assert_eq!(reply.calls().len(), 1, "{provider}");
        }
        let first = news
            .iter()
            .position(|delta| matches!(delta, Delta::Text(_)));
        let last = news
            .iter()
            .rposition(|delta| matches!(delta, Delta::Reasoning(_)));
        assert!(last < first, "{provider}: {news:?}");
    }
}

// A reply that is cut off during the reasoning contains the reasoning that has arrived.
#[test]
fn reasoning_of_a_truncated_reply_is_kept() {
    for provider in Provider::ALL {
        // The number of events up to the end of the first block.
        let most = match provider {
            Provider::Chat => 1,
            Provider::Responses => 4,
            Provider::Anthropic => 3,
            Provider::Gemini | Provider::Bedrock => 2,
        };
        let (reply, news) = streamed(provider, most);
        assert!(reply.is_truncated());
        assert!(
            reply.reasoning().starts_with(FIRST),
            "{provider}: {reply:?}"
        );
        assert_eq!(pieces(&news), reply.reasoning(), "{provider}");
        assert_eq!(reply.text(), "");
    }
}

// Servers that are compatible with Chat Completions use two names for the key, and some servers use both.
#[test]
fn reasoning_is_read_from_both_keys_of_chat_completions() {
    let read = |message: Value| -> Result<String, WireError> {
        let body = json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string();
        Ok(Provider::Chat.reply(&body)?.reasoning().to_owned())
    };
    for (message, expected) in [
        (json!({"content": "a", "reasoning": "b"}), "b"),
        (
            json!({"content": "a", "reasoning": "b", "reasoning_content": "b"}),
            "b",
        ),
        (
            json!({"content": "a", "reasoning_content": "", "reasoning": "b"}),
            "b",
        ),
        (json!({"content": "a", "reasoning_content": null}), ""),
        (json!({"content": "a", "reasoning": {"effort": "low"}}), ""),
    ] {
        assert_eq!(read(message.clone()), Ok(expected.to_owned()), "{message}");
    }
}

/// Reads a Chat reply in pieces, or as a whole if there is one piece.
fn chat_reply(pieces: &[Value], finish: Option<&str>) -> ModelReply {
    if let ([message], Some(finish)) = (pieces, finish) {
        let body = json!({"choices": [{"message": message, "finish_reason": finish}]});
        return Provider::Chat.reply(&body.to_string()).unwrap();
    }
    let mut stream = Provider::Chat.stream();
    let last = json!({"choices": [{"delta": {}, "finish_reason": finish}]});
    let events = pieces
        .iter()
        .map(|piece| json!({"choices": [{"delta": piece}]}));
    for event in events.chain([last]) {
        stream.event(&event.to_string()).unwrap();
    }
    stream.finish().unwrap()
}

/// Returns a Chat message as it is sent back.
fn sent_back(reply: &ModelReply) -> Value {
    let messages = Provider::Chat.assistant(reply.message());
    assert_eq!(messages.len(), 1);
    serde_json::from_str(messages[0].get()).unwrap()
}

fn chat_call() -> Value {
    json!([{"index": 0, "id": "c-1", "type": "function", "function": {"name": "look_up", "arguments": "{ }"}}])
}

// DeepSeek and Kimi refuse the next request of a tool loop without the reasoning of the call, and servers such as vLLM name the field differently
#[test]
fn reasoning_of_chat_completions_goes_back_under_its_own_name() {
    for key in ["reasoning_content", "reasoning"] {
        let whole = [
            json!({"role": "assistant", "content": "Well:", key: format!("{FIRST} {SECOND}"), "tool_calls": chat_call()}),
        ];
        let pieces = [
            json!({"role": "assistant", "content": null, key: ""}),
            json!({"content": null, key: FIRST}),
            json!({"content": null, key: format!(" {SECOND}")}),
            json!({"content": "Well:", key: null}),
            json!({"tool_calls": chat_call()}),
        ];
        for pieces in [&whole[..], &pieces] {
            let reply = chat_reply(pieces, Some("tool_calls"));
            assert_eq!(
                sent_back(&reply),
                json!({"role": "assistant", "content": "Well:", key: format!("{FIRST} {SECOND}"), "tool_calls": [
                    {"id": "c-1", "type": "function", "function": {"name": "look_up", "arguments": "{ }"}}]})
            );
        }
    }
}

// DeepSeek requires the field on a message with calls even if the model wrote no reasoning. Other servers get no empty field.
#[test]
fn empty_reasoning_goes_back_with_calls_only() {
    let calls = chat_call();
    let with_call = json!({"content": null, "reasoning_content": "", "tool_calls": calls});
    let without = json!({"content": "a", "reasoning_content": ""});
    let other_key = json!({"content": null, "reasoning": "", "tool_calls": calls});
    for (message, expected) in [
        (with_call, json!("")),
        (without, Value::Null),
        (other_key, Value::Null),
    ] {
        let sent = sent_back(&chat_reply(&[message], Some("stop")));
        assert_eq!(sent["reasoning_content"], expected, "{sent}");
        assert_eq!(sent["reasoning"], Value::Null, "{sent}");
    }
}

// OpenRouter requires `reasoning_details` unchanged and in order; the pieces of a stream are joined to the elements of a complete message
#[test]
fn reasoning_details_go_back_unchanged() {
    let text = |text: &str, signature: Value, index: u32| json!({"type": "reasoning.text", "text": text, "signature": signature, "id": null, "format": "anthropic-claude-v1", "index": index});
    let encrypted = |data: &str| json!({"type": "reasoning.encrypted", "data": data, "id": "rs_1", "format": "openai-responses-v1", "index": 1});
    let details = json!([
        text("Two look-ups.", json!("EqQB=="), 0),
        encrypted("gAAA=="),
        encrypted("gBBB=="),
        {"type": "reasoning.summary", "summary": "Both names.", "index": 2, "size": 9_007_199_254_740_993_u64},
        {"type": "reasoning.later", "text": "a"},
        {"type": "reasoning.later", "text": "b"},
    ]);
    let whole =
        [json!({"content": "Well:", "reasoning": "Two look-ups.", "reasoning_details": details})];
    let piece = |details: Value| json!({"content": "", "reasoning_details": details});
    let pieces = [
        json!({"content": "", "reasoning": "Two ", "reasoning_details": [text("Two ", Value::Null, 0)]}),
        json!({"content": "", "reasoning": "look-ups.", "reasoning_details": [{"type": "reasoning.text", "text": "look-ups.", "index": 0}]}),
        piece(json!([{"type": "reasoning.text", "signature": "EqQB==", "index": 0}])),
        piece(json!([encrypted("gAAA==")])),
        piece(json!([encrypted("gBBB==")])),
        piece(json!([{"type": "reasoning.summary", "summary": "Both ", "index": 2}])),
        piece(
            json!([{"type": "reasoning.summary", "summary": "names.", "index": 2, "size": 9_007_199_254_740_993_u64}]),
        ),
        piece(
            json!([{"type": "reasoning.later", "text": "a"}, {"type": "reasoning.later", "text": "b"}]),
        ),
        json!({"content": "Well:"}),
    ];
    for pieces in [&whole[..], &pieces] {
        let reply = chat_reply(pieces, Some("stop"));
        assert_eq!(reply.reasoning(), "Two look-ups.");
        assert_eq!(
            sent_back(&reply),
            json!({"role": "assistant", "content": "Well:", "reasoning_details": details})
        );
    }
}

// Elements with different numbers or ids are not joined, and details that are not objects are ignored
#[test]
fn reasoning_details_of_different_blocks_stay_apart() {
    let block = |index: Value, id: Value| json!({"type": "reasoning.text", "text": "a", "index": index, "id": id});
    let blocks = [
        block(json!(0), json!("x")),
        block(json!(1), json!("x")),
        block(json!(1), json!("y")),
    ];
    let mut pieces: Vec<Value> = blocks
        .iter()
        .map(|block| json!({"reasoning_details": [block]}))
        .collect();
    pieces.push(json!({"reasoning_details": ["a"], "content": "Well:"}));
    let reply = chat_reply(&pieces, Some("stop"));
    assert_eq!(sent_back(&reply)["reasoning_details"], json!(blocks));
}

// A stream that ends without its reason may have been cut off within a signature
#[test]
fn reasoning_of_a_stream_that_was_cut_off_is_not_sent_back() {
    let details = json!([{"type": "reasoning.text", "text": "a", "signature": "EqQ", "index": 0}]);
    let piece = json!({"content": "Well:", "reasoning": "a", "reasoning_details": details});
    let reply = chat_reply(&[piece.clone(), json!({})], None);
    assert!(reply.is_truncated());
    assert!(!sent_back(&reply).to_string().contains("reasoning"));
    let reply = chat_reply(&[piece], Some("length"));
    assert_eq!(sent_back(&reply)["reasoning_details"], details);
}

// Messages without reasoning are stored without a copy in the format of the server
#[test]
fn chat_message_without_reasoning_has_no_opaque_part() {
    for message in [
        json!({"content": "a"}),
        json!({"content": "a", "reasoning": "", "reasoning_content": null, "reasoning_details": []}),
    ] {
        let reply = chat_reply(&[message], Some("stop"));
        assert_eq!(reply.message().written, None);
    }
}

// Models with open weights return the reasoning itself, other models return a summary.
#[test]
fn reasoning_text_of_responses_is_read() {
    let item = json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": FIRST}]});
    let body = json!({"status": "completed", "output": [item]});
    let reply = Provider::Responses.reply(&body.to_string()).unwrap();
    assert_eq!(reply.reasoning(), FIRST);
    let mut stream = Provider::Responses.stream();
    let mut news = Vec::new();
    for event in [
        json!({"type": "response.output_item.added", "output_index": 0, "item": {"type": "reasoning", "summary": []}}),
        json!({"type": "response.reasoning_text.delta", "output_index": 0, "content_index": 0, "delta": FIRST}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
        json!({"type": "response.completed", "response": body}),
    ] {
        news.extend(stream.event(&event.to_string()).unwrap());
    }
    assert_eq!(pieces(&news), FIRST);
    assert_eq!(stream.finish().unwrap().reasoning(), FIRST);

    // An event without its indexes, as compatible servers send it, is read too.
    let mut stream = Provider::Responses.stream();
    let bare = json!({"type": "response.reasoning_summary_text.delta", "delta": FIRST});
    let news = stream.event(&bare.to_string()).unwrap();
    assert_eq!(pieces(&news), FIRST);
}

fn cx(conversation: &str) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .conversation(conversation)
        .build()
}

async fn stored(store: &MemoryStore, conversation: &str) -> Vec<Message> {
    let thread = ThreadId::new("acme", conversation).unwrap();
    ThreadStore::read(store, &thread, None).await.unwrap()
}

// A thread of parts, system message, result and reasoning is replayed on every provider; reasoning is sent only to the provider that wrote it.
#[tokio::test]
async fn reasoning_is_sent_back_to_its_provider_only() {
    let store = MemoryStore::default();
    let turns = Turns::new(store.clone());
    for from in Provider::ALL {
        let cx = cx(from.name());
        turns.instruct("Be brief.", &cx).await.unwrap();
        let question = [
            Part::text("Which number?"),
            Part::base64("image/png", "iVBORw0KGgo="),
        ];
        turns.say(question, &cx).await.unwrap();
        let message = turns.record(whole(from).into_message(), &cx).await.unwrap();
        let turn = turns.run(&toolset![look_up], &message, &cx).await.unwrap();
        assert!(matches!(turn, Turn::Complete(_)));
        turns.record(ModelMessage::text("7"), &cx).await.unwrap();
    }
    for from in Provider::ALL {
        let thread = stored(&store, from.name()).await;
        let kept: ModelMessage = serde_json::from_str(&thread[2].content).unwrap();
        assert_eq!(kept.reasoning, format!("{FIRST}\n\n{SECOND}"), "{from}");
        for to in Provider::ALL {
            let history = to.history(&thread).unwrap();
            assert!(history.left_out.is_empty(), "{from} to {to}");
            let messages = format!("{:?}", history.messages);
            let (system, _) = history.system.field().unzip();
            let among = messages.contains("Be brief.");
            assert!(among != system.is_some(), "{from} to {to}: {messages}");
            for part in ["Which number?", "iVBORw0KGgo=", "Well:", "look_up", "7"] {
                assert!(
                    messages.contains(part),
                    "{part}, {from} to {to}: {messages}"
                );
            }
            let goes_back = from == to;
            assert_eq!(
                messages.contains(FIRST),
                goes_back,
                "{from} to {to}: {messages}"
            );
            assert_eq!(messages.contains(SECOND), goes_back, "{from} to {to}");
            let signed = messages.contains("sig-1") || messages.contains("gAAA==");
            let signs = from != Provider::Chat;
            assert_eq!(signed, goes_back && signs, "{from} to {to}: {messages}");
        }
    }
}

fn values(chunks: &[Chunk]) -> Vec<Value> {
    let value = |chunk: &Chunk| serde_json::to_value(chunk).unwrap();
    chunks.iter().map(value).collect()
}

// An interface shows reasoning in its own parts and only once, streamed or complete. `without_reasoning` omits it.
#[test]
fn an_interface_shows_reasoning_before_the_text() {
    for provider in Provider::ALL {
        let (reply, news) = streamed(provider, usize::MAX);
        let mut ui = Writer::new(&toolset![look_up]);
        let mut chunks = Vec::new();
        for delta in &news {
            chunks.extend(ui.delta(delta).unwrap());
        }
        chunks.extend(ui.reply(&reply).unwrap());
        let streamed = values(&chunks);
        let whole = values(
            &Writer::new(&toolset![look_up])
                .reply(&whole(provider))
                .unwrap(),
        );
        for chunks in [streamed, whole] {
            let kinds: Vec<&str> = chunks
                .iter()
                .map(|chunk| chunk["type"].as_str().unwrap())
                .collect();
            let mut once = kinds.clone();
            once.dedup();
            let once: Vec<&str> = once
                .into_iter()
                .filter(|kind| !kind.starts_with("tool-"))
                .collect();
            assert_eq!(
                once,
                [
                    "start-step",
                    "reasoning-start",
                    "reasoning-delta",
                    "reasoning-end",
                    "text-start",
                    "text-delta",
                    "text-end"
                ],
                "{provider}"
            );
            let of = |kind: &str| -> String {
                let of = chunks.iter().filter(|chunk| chunk["type"] == kind);
                of.map(|chunk| chunk["delta"].as_str().unwrap()).collect()
            };
            assert_eq!(
                of("reasoning-delta"),
                format!("{FIRST}\n\n{SECOND}"),
                "{provider}"
            );
            assert_eq!(of("text-delta"), "Well:", "{provider}");
            assert_eq!(
                chunks[1],
                json!({"type": "reasoning-start", "id": "reasoning-1"})
            );
        }

        let mut quiet = Writer::new(&toolset![look_up]).without_reasoning();
        let mut chunks = Vec::new();
        for delta in &news {
            chunks.extend(quiet.delta(delta).unwrap());
        }
        chunks.extend(quiet.reply(&reply).unwrap());
        let chunks = format!("{:?}", values(&chunks));
        assert!(
            !chunks.contains("reasoning") && chunks.contains("Well:"),
            "{chunks}"
        );
    }
}

// Reasoning between two texts becomes a part between these texts, without the empty line that separates blocks in the message.
#[test]
fn an_interface_shows_reasoning_between_texts_in_its_place() {
    let mut ui = Writer::new(&toolset![]);
    let mut chunks = Vec::new();
    for delta in [
        Delta::Reasoning("a".to_owned()),
        Delta::Text("b".to_owned()),
        Delta::Reasoning("\n\n".to_owned()),
        Delta::Reasoning("c".to_owned()),
        Delta::Text("d".to_owned()),
    ] {
        chunks.extend(ui.delta(&delta).unwrap());
    }
    let message = ModelMessage {
        reasoning: "a\n\nc".to_owned(),
        ..ModelMessage::text("bd")
    };
    chunks.extend(ui.message(&message).unwrap());
    assert_eq!(
        values(&chunks),
        [
            json!({"type": "start-step"}),
            json!({"type": "reasoning-start", "id": "reasoning-1"}),
            json!({"type": "reasoning-delta", "id": "reasoning-1", "delta": "a"}),
            json!({"type": "reasoning-end", "id": "reasoning-1"}),
            json!({"type": "text-start", "id": "text-1"}),
            json!({"type": "text-delta", "id": "text-1", "delta": "b"}),
            json!({"type": "text-end", "id": "text-1"}),
            json!({"type": "reasoning-start", "id": "reasoning-2"}),
            json!({"type": "reasoning-delta", "id": "reasoning-2", "delta": "c"}),
            json!({"type": "reasoning-end", "id": "reasoning-2"}),
            json!({"type": "text-start", "id": "text-2"}),
            json!({"type": "text-delta", "id": "text-2", "delta": "d"}),
            json!({"type": "text-end", "id": "text-2"}),
        ]
    );
}
