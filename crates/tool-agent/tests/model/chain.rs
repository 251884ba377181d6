//! Chains of models: fallback to the next model, and waits that providers request.

use std::time::Duration;

use serde_json::json;
use tool_agent::model::ModelErrorKind;

use crate::standin::{StandIn, cut, events, json_response};
use crate::support::{Events, World, anthropic, call, chat, chat_answer, quick, start, stop, text};

// The next model answers when a model is overloaded, has no quota, asks for a long wait, refuses the key, does not exist, or breaks its stream.
#[tokio::test]
async fn next_model_answers_if_the_first_cannot() {
    for (response, requests) in [
        (json_response(529, &[], &json!({})), 3),
        (json_response(429, &[("retry-after", "600")], &json!({})), 1),
        (
            json_response(429, &[], &json!({"error": {"code": "insufficient_quota"}})),
            1,
        ),
        (json_response(401, &[], &json!({})), 1),
        (json_response(404, &[], &json!({})), 1),
        (cut([vec![start()], text(0, "Half")].concat()), 3),
    ] {
        let first = StandIn::start(vec![response.clone()]).await;
        let second = StandIn::start(vec![events(chat_answer("Done."))]).await;
        let model = anthropic(&first).build().unwrap();
        let mut model = model.or(chat(&second).build().unwrap());
        let world = World::new().await;
        assert_eq!(world.answer(&mut model).await, "Done.", "{response:?}");
        assert_eq!(first.received().len(), requests, "{response:?}");
        assert_eq!(second.received().len(), 1, "{response:?}");
    }
}

// A request that is invalid, too long or refused by a filter is not sent to the next model.
#[tokio::test]
async fn next_model_is_not_asked_about_a_faulty_request() {
    for (status, code) in [
        (400, "unknown_parameter"),
        (400, "context_length_exceeded"),
        (400, "content_policy_violation"),
    ] {
        let body = json!({"error": {"message": "m", "code": code}});
        let first = StandIn::start(vec![json_response(status, &[], &body)]).await;
        let second = StandIn::start(vec![events(chat_answer("Done."))]).await;
        let model = chat(&first).build().unwrap();
        let mut model = model.or(chat(&second).build().unwrap());
        World::new().await.failure(&mut model).await;
        assert!(second.received().is_empty(), "{code}");
    }
}

#[tokio::test]
async fn error_of_a_chain_names_every_model() {
    let first = StandIn::start(vec![json_response(
        404,
        &[],
        &json!({"error": "no such model"}),
    )])
    .await;
    let second = StandIn::start(vec![json_response(500, &[], &json!({"error": "crash"}))]).await;
    let model = anthropic(&first).build().unwrap();
    let (mut model, seen) = Events::of(model.or(chat(&second).build().unwrap()));
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(
        (failure.kind, &*failure.model),
        (ModelErrorKind::Server, "local")
    );
    let text = "local: the provider failed (500): crash; 3 attempts; before it, claude: the model or the path does not exist: no such model";
    assert_eq!(failure.to_string(), text);
    assert_eq!(seen.lines().len(), 8);
}

// A thread that one provider began continues at a different provider, with the call and its result in the format of that provider.
#[tokio::test]
async fn thread_continues_at_the_next_provider() {
    let calling = [vec![start()], call(0, "t-1"), stop("tool_use")].concat();
    let first = StandIn::start(vec![events(calling), json_response(529, &[], &json!({}))]).await;
    let second = StandIn::start(vec![events(chat_answer("Done."))]).await;
    let model = anthropic(&first).build().unwrap();
    let mut model = model.or(chat(&second).build().unwrap());
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    assert_eq!(world.calls(), 1);
    let messages = &second.received()[0].body["messages"];
    assert_eq!(
        messages[1]["tool_calls"][0]["function"]["arguments"],
        r#"{"host":"a"}"#
    );
    assert_eq!(messages[2]["content"], "pong from a");
}

// Signatures belong to the model that wrote them: a different endpoint or model receives the text and the calls without them.
#[tokio::test]
async fn opaque_parts_go_back_to_their_origin_only() {
    let thinking = [
        vec![
            start(),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "EqQB"}}),
            json!({"type": "content_block_stop", "index": 0}),
        ],
        call(1, "t-1"),
        stop("tool_use"),
    ]
    .concat();
    let first = StandIn::start(vec![events(thinking), json_response(529, &[], &json!({}))]).await;
    let second = StandIn::start(vec![events(crate::support::answer("Done."))]).await;
    let model = anthropic(&first).build().unwrap();
    let mut model = model.or(anthropic(&second).build().unwrap());
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    let same = first.received()[1].body["messages"].to_string();
    assert!(same.contains("EqQB"), "{same}");
    let other = second.received()[0].body["messages"].to_string();
    assert!(!other.contains("EqQB") && other.contains("t-1"), "{other}");
}

// No request is sent to a model before the end of the wait that its provider requested, neither in the next step nor by a clone.
#[tokio::test]
async fn requested_wait_is_remembered() {
    let calling = json!({"choices": [{"index": 0, "delta": {"tool_calls": [{
        "index": 0, "id": "c-1", "type": "function", "function": {"name": "ping", "arguments": "{\"host\":\"a\"}"},
    }]}, "finish_reason": "tool_calls"}]});
    let first = StandIn::start(vec![json_response(
        429,
        &[("retry-after", "600")],
        &json!({}),
    )])
    .await;
    let second = StandIn::start(vec![events([calling]), events(chat_answer("Done."))]).await;
    let model = anthropic(&first).build().unwrap();
    let mut model = model.or(chat(&second).build().unwrap());
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    assert_eq!(World::new().await.answer(&mut model.clone()).await, "Done.");
    assert_eq!((first.received().len(), second.received().len()), (1, 3));
}

// `soonest` returns the shortest wait of the chain, even if the provider of the last model requests none.
#[tokio::test]
async fn error_of_a_chain_has_the_shortest_wait() {
    let first = StandIn::start(vec![json_response(
        429,
        &[("retry-after", "65")],
        &json!({}),
    )])
    .await;
    let second = StandIn::start(vec![json_response(404, &[], &json!({}))]).await;
    let model = anthropic(&first).build().unwrap();
    let mut model = model.or(chat(&second).build().unwrap());
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(
        (failure.kind, failure.retry_after),
        (ModelErrorKind::NotFound, None)
    );
    let wait = failure.soonest().unwrap();
    assert_eq!(wait, Duration::from_secs(65));
    assert_eq!(
        (failure.earlier[0].status, failure.earlier[0].attempts),
        (Some(429), 1)
    );
}

// A run is suspended for the shortest wait that exceeds the budget. A final error, a wait within the budget, and an invalid request to the last model
// suspend no run.
#[tokio::test]
async fn run_is_suspended_for_the_shortest_wait_of_the_chain() {
    let after = |seconds| json_response(429, &[("retry-after", seconds)], &json!({}));
    let quota = json!({"error": {"code": "insufficient_quota"}});
    let exhausted = json_response(429, &[("retry-after", "90")], &quota);
    let invalid = json_response(400, &[], &json!({"error": {"message": "m"}}));
    for (first, second, expected) in [
        (after("600"), after("90"), Some(90)),
        (after("90"), after("600"), Some(90)),
        (after("600"), exhausted.clone(), Some(600)),
        (exhausted.clone(), after("600"), Some(600)),
        (exhausted.clone(), exhausted.clone(), None),
        (after("600"), invalid, None),
        (after("0"), after("0"), None),
    ] {
        let first = StandIn::start(vec![first]).await;
        let second = StandIn::start(vec![second]).await;
        let model = anthropic(&first).build().unwrap();
        let mut model = model.or(chat(&second).build().unwrap());
        let world = World::new().await;
        let error = world.drive(&mut model).await.unwrap_err();
        let wait = error.resumes_after();
        assert_eq!(wait.map(|wait| wait.as_secs()), expected, "{error}");
        assert_eq!(model.error().unwrap().resumes_after, wait);
    }
}

// If the wait of a model has not ended when a run begins, the run is suspended for the remaining part of this wait.
#[tokio::test]
async fn rest_of_an_earlier_wait_suspends_a_run() {
    let refused = json_response(429, &[("retry-after", "600")], &json!({}));
    let server = StandIn::start(vec![refused]).await;
    let mut model = anthropic(&server).build().unwrap();
    for _ in 0..2 {
        let error = World::new().await.drive(&mut model).await.unwrap_err();
        let wait = error.resumes_after().unwrap();
        assert!(wait.as_secs() >= 590, "{wait:?}");
    }
    assert_eq!(server.received().len(), 1);
}

// While the wait of a model has not ended, the next model is asked at once, even if the wait would fit into the budget.
#[tokio::test]
async fn resting_model_is_skipped() {
    let refused = json_response(429, &[("retry-after", "30")], &json!({}));
    let first = StandIn::start(vec![refused]).await;
    let second = StandIn::start(vec![events(chat_answer("Done."))]).await;
    let mut retry = quick();
    retry.attempts = 1;
    let model = anthropic(&first).retry(retry).build().unwrap();
    let mut model = model.or(chat(&second).build().unwrap());
    for _ in 0..2 {
        let world = World::new().await;
        let answer = tokio::time::timeout(Duration::from_secs(9), world.answer(&mut model));
        assert_eq!(answer.await.unwrap(), "Done.");
    }
    assert_eq!((first.received().len(), second.received().len()), (1, 2));
}
