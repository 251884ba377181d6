//! The reasoning of servers of Chat Completions: it is shown, and sent back as the server requires.

use serde_json::{Value, json};
use tool_agent::model::{Endpoint, HttpModel, HttpModelBuilder, ModelEvent, PastReasoning};
use tool_wire::Delta;

use crate::standin::{Act, StandIn, events, json_response};
use crate::support::{World, call, chat_answer, quick, start, stop};

/// Returns a model of Chat Completions with this rule.
fn ruled(server: &StandIn, rule: PastReasoning) -> HttpModelBuilder {
    let builder = HttpModel::builder(Endpoint::compatible(&server.url), "local");
    builder.retry(quick()).past_reasoning(rule)
}

/// Returns a streamed message with reasoning in this field, and a call.
fn thinking(field: &str) -> Vec<Act> {
    let piece = |delta: Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let call = json!([{"index": 0, "id": "c-1", "type": "function", "function": {"name": "ping", "arguments": "{\"host\":\"a\"}"}}]);
    events([
        piece(json!({"role": "assistant", "content": null, field: "A ping "})),
        piece(json!({"content": null, field: "is needed."})),
        piece(json!({"content": null, "tool_calls": call})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!("[DONE]"),
    ])
}

/// Returns the model's message in the second request.
fn sent_back(server: &StandIn) -> Value {
    let message = server.received()[1].body["messages"][1].clone();
    assert_eq!(message["tool_calls"][0]["id"], "c-1", "{message}");
    message
}

// Reasoning is passed on while it arrives, and is sent back unchanged with the call that it led to.
#[tokio::test]
async fn reasoning_is_shown_and_sent_back_within_a_tool_loop() {
    for field in ["reasoning_content", "reasoning"] {
        for (rule, expected) in [
            (PastReasoning::Own, json!("A ping is needed.")),
            (PastReasoning::Required, json!("A ping is needed.")),
            (PastReasoning::Omit, Value::Null),
        ] {
            let server = StandIn::start(vec![thinking(field), events(chat_answer("Done."))]).await;
            let shown = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
            let log = std::sync::Arc::clone(&shown);
            let model = ruled(&server, rule).build().unwrap();
            let mut model = model.observe(move |event| {
                if let ModelEvent::Delta(Delta::Reasoning(text)) = event {
                    log.lock().unwrap().push(text.clone());
                }
            });
            let world = World::new().await;
            assert_eq!(world.answer(&mut model).await, "Done.");
            assert_eq!(world.calls(), 1);
            assert_eq!(*shown.lock().unwrap(), ["A ping ", "is needed."]);
            assert_eq!(sent_back(&server)[field], expected, "{rule:?}");
        }
    }
}

// The details of OpenRouter are sent back as one element with its signature, also with the next message of the thread.
#[tokio::test]
async fn reasoning_details_are_sent_back_in_every_later_request() {
    let detail = |detail: Value| json!({"choices": [{"index": 0, "delta": {"content": "", "reasoning_details": [detail]}}]});
    let mut first = vec![
        detail(
            json!({"type": "reasoning.text", "text": "A ping ", "format": "anthropic-claude-v1", "index": 0}),
        ),
        detail(json!({"type": "reasoning.text", "text": "is needed.", "index": 0})),
        detail(json!({"type": "reasoning.text", "signature": "EqQB", "index": 0})),
    ];
    first.extend(chat_answer("Which host?"));
    let server = StandIn::start(vec![events(first), events(chat_answer("Done."))]).await;
    let mut model = ruled(&server, PastReasoning::Own).build().unwrap();
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Which host?");
    world.turns.say("The first.", &world.cx).await.unwrap();
    assert_eq!(world.answer(&mut model).await, "Done.");
    let message = &server.received()[1].body["messages"][1];
    assert_eq!(
        message["reasoning_details"],
        json!([{"type": "reasoning.text", "text": "A ping is needed.", "signature": "EqQB", "format": "anthropic-claude-v1", "index": 0}])
    );
}

// A thread that Claude began continues at a server that refuses calls without reasoning, and Claude's own reasoning is not sent there.
#[tokio::test]
async fn call_of_a_different_model_gets_a_placeholder_where_reasoning_is_required() {
    let thought = [
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": "Secret."}}),
        json!({"type": "content_block_stop", "index": 0}),
    ];
    let calling = [
        vec![start()],
        thought.to_vec(),
        call(1, "c-1"),
        stop("tool_use"),
    ]
    .concat();
    for (rule, expected) in [
        (PastReasoning::Own, Value::Null),
        (PastReasoning::Required, json!(" ")),
        (PastReasoning::Omit, Value::Null),
    ] {
        let first = StandIn::start(vec![
            events(calling.clone()),
            json_response(529, &[], &json!({})),
        ])
        .await;
        let second = StandIn::start(vec![events(chat_answer("Done."))]).await;
        let model = crate::support::anthropic(&first).build().unwrap();
        let mut model = model.or(ruled(&second, rule).build().unwrap());
        assert_eq!(World::new().await.answer(&mut model).await, "Done.");
        let messages = &second.received()[0].body["messages"];
        assert_eq!(messages[1]["reasoning_content"], expected, "{rule:?}");
        assert!(!messages.to_string().contains("Secret"), "{messages}");
        assert_eq!(
            messages[1]["tool_calls"][0]["function"]["arguments"],
            r#"{"host":"a"}"#
        );
    }
}

// A different model of the same server does not get the reasoning either.
#[tokio::test]
async fn reasoning_of_chat_completions_is_dropped_on_fallback() {
    let first = StandIn::start(vec![
        thinking("reasoning_content"),
        json_response(503, &[], &json!({})),
    ])
    .await;
    let second = StandIn::start(vec![events(chat_answer("Done."))]).await;
    let model = ruled(&first, PastReasoning::Own).build().unwrap();
    let mut model = model.or(ruled(&second, PastReasoning::Own).build().unwrap());
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    assert_eq!(sent_back(&first)["reasoning_content"], "A ping is needed.");
    let messages = second.received()[0].body["messages"].to_string();
    assert!(!messages.contains("is needed"), "{messages}");
}

// Kimi treats an empty reasoning as missing.
#[tokio::test]
async fn empty_reasoning_gets_the_placeholder_where_reasoning_is_required() {
    let call = json!([{"id": "c-1", "type": "function", "function": {"name": "ping", "arguments": "{\"host\":\"a\"}"}}]);
    let body = json!({"choices": [{"index": 0, "message": {"role": "assistant", "reasoning_content": "", "tool_calls": call}, "finish_reason": "tool_calls"}]});
    for (rule, expected) in [(PastReasoning::Own, ""), (PastReasoning::Required, " ")] {
        let server = StandIn::start(vec![
            json_response(200, &[], &body),
            events(chat_answer("Done.")),
        ])
        .await;
        let mut model = ruled(&server, rule).build().unwrap();
        assert_eq!(World::new().await.answer(&mut model).await, "Done.");
        assert_eq!(sent_back(&server)["reasoning_content"], expected);
    }
}
