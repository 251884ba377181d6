//! Faults of providers: partial events, errors in replies with status 200, rate limits for many runs at once, invalid arguments, calls without ids or
//! signatures, and tokens that the totals of a usage leave out.

use std::time::Duration;

use serde_json::{Value, json};
use tool_agent::model::{ApiKey, Endpoint, HttpModel, ModelErrorKind};

use crate::standin::{Act, StandIn, cut, events, json_response};
use crate::support::{
    KEY, World, answer, anthropic, call, chat, chat_answer, quick, start, stop, text,
};

fn openai(server: &StandIn) -> HttpModel {
    let endpoint = Endpoint::openai(ApiKey::new(KEY)).base_url(&server.url);
    let builder = HttpModel::builder(endpoint, "gpt").retry(quick());
    builder.build().unwrap()
}

fn gemini(server: &StandIn) -> HttpModel {
    let endpoint = Endpoint::gemini(ApiKey::new(KEY)).base_url(&server.url);
    let builder = HttpModel::builder(endpoint, "gemini").retry(quick());
    builder.build().unwrap()
}

fn gemini_reply(parts: &Value) -> Vec<Act> {
    events([
        json!({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}),
    ])
}

fn chat_call(arguments: &str) -> Vec<Act> {
    let call = json!([{"index": 0, "id": "c-1", "type": "function", "function": {"name": "ping", "arguments": arguments}}]);
    events([
        json!({"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": call}}]}),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
        json!("[DONE]"),
    ])
}

// A stream that ends within an event is broken, regardless of the position, and a call that was complete before does not run.
#[tokio::test]
async fn stream_that_ends_within_an_event_is_retried() {
    let whole = [
        vec![start()],
        text(0, "So"),
        call(1, "t-1"),
        stop("tool_use"),
    ]
    .concat();
    for last in [2, 5, whole.len() - 1] {
        for end in [true, false] {
            let mut acts = cut(whole[..last].to_vec());
            let partial = format!("data: {}", whole[last]);
            acts.push(Act::Send(partial[..partial.len() - 3].to_owned()));
            acts.extend(end.then_some(Act::End));
            let server = StandIn::start(vec![acts, events(answer("Done."))]).await;
            let world = World::new().await;
            let mut model = anthropic(&server).build().unwrap();
            assert_eq!(world.answer(&mut model).await, "Done.", "{last} {end}");
            assert_eq!((world.calls(), server.received().len()), (0, 2));
            assert_eq!(world.stored().await.len(), 2);
        }
    }
}

// A reply with status 200 that is an error, as JSON or in a stream, in the shapes of OpenAI: the error has the class of the reported error, and its text
// contains the provider's message.
#[tokio::test]
async fn errors_of_openai_in_replies_are_read_in_every_shape() {
    let error = json!({"message": "The engine is overloaded.", "type": "server_error", "code": "rate_limit_exceeded"});
    let nested = json!({"error": error});
    let flat = json!({"type": "error", "code": "rate_limit_exceeded", "message": "The engine is overloaded.", "sequence_number": 1});
    let inner = json!({"type": "error", "error": error});
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "error": {"code": "rate_limit_exceeded", "message": "The engine is overloaded."}}});
    let responses = [
        (json_response(200, &[], &nested), true),
        (json_response(200, &[], &nested), false),
        (events([nested.clone()]), true),
        (events([nested]), false),
        (events([flat]), false),
        (events([inner]), false),
        (events([failed]), false),
    ];
    for (response, is_chat) in responses {
        let server = StandIn::start(vec![response.clone()]).await;
        let mut model = if is_chat {
            chat(&server).build().unwrap()
        } else {
            openai(&server)
        };
        let failure = World::new().await.failure(&mut model).await;
        assert_eq!(failure.kind, ModelErrorKind::RateLimited, "{response:?}");
        assert_eq!(failure.message, "The engine is overloaded.", "{response:?}");
        assert_eq!(server.received().len(), 3, "{response:?}");
    }
    let text = json!({"error": "model requires more system memory"});
    for response in [json_response(200, &[], &text), events([text.clone()])] {
        let server = StandIn::start(vec![response]).await;
        let mut model = chat(&server).build().unwrap();
        let failure = World::new().await.failure(&mut model).await;
        assert_eq!(failure.kind, ModelErrorKind::Server);
        assert_eq!(failure.message, "model requires more system memory");
        assert_eq!(server.received().len(), 3);
    }
}

// If all runs of one model are refused, each waits as long as the provider requests, and each is answered
// once.
#[tokio::test]
async fn many_runs_at_once_wait_out_a_rate_limit() {
    const RUNS: usize = 12;
    let wait = Duration::from_millis(300);
    let refused = json_response(429, &[("retry-after-ms", "300")], &json!({}));
    let mut responses = vec![refused; RUNS];
    responses.push(events(answer("Done.")));
    let server = StandIn::start(responses).await;
    let mut retry = quick();
    retry.attempts = u32::try_from(RUNS).unwrap() + 1;
    let model = anthropic(&server).retry(retry).build().unwrap();
    let mut worlds = Vec::new();
    for _ in 0..RUNS {
        worlds.push(World::new().await);
    }
    let runs = worlds.iter().map(|world| {
        let mut model = model.clone();
        async move { world.answer(&mut model).await }
    });
    let answers = futures::future::join_all(runs).await;
    assert_eq!(answers, vec!["Done."; RUNS]);
    let received = server.received();
    assert_eq!(received.len(), 2 * RUNS);
    // No run sends a request before the end of the waits that the refusals requested.
    let refused = &received[..RUNS];
    let first = refused.iter().map(|request| request.at).min().unwrap();
    let again = received[RUNS..].iter().map(|request| request.at).min();
    assert!(again.unwrap() - first >= wait);
    for world in worlds {
        assert_eq!(world.stored().await.len(), 2);
    }
}

// Calls whose arguments are not JSON or violate the schema do not run: the model reads the problem and calls again, and its arguments are sent back
// as it wrote them.
#[tokio::test]
async fn malformed_arguments_are_returned_to_the_model() {
    for arguments in [
        r#"{"host":"a""#,
        "",
        "[1]",
        r#"{"hosts":"a"}"#,
        r#"{"host":"a","host":"b"}"#,
    ] {
        let server = StandIn::start(vec![
            chat_call(arguments),
            chat_call(r#"{"host":"a"}"#),
            events(chat_answer("Done.")),
        ])
        .await;
        let mut model = chat(&server).build().unwrap();
        let world = World::new().await;
        assert_eq!(world.answer(&mut model).await, "Done.", "{arguments}");
        assert_eq!(world.calls(), 1, "{arguments}");
        let messages = &server.received()[2].body["messages"];
        let sent = &messages[1]["tool_calls"][0]["function"]["arguments"];
        let expected = if arguments.is_empty() {
            "{}"
        } else {
            arguments
        };
        assert_eq!(sent, expected);
        let why = messages[2]["content"].as_str().unwrap();
        assert_ne!(why, "pong from a");
        assert!(!why.is_empty(), "{arguments}");
        assert_eq!(messages[4]["content"], "pong from a");
    }
}

// Gemini's older models and compatible servers send calls without ids and signatures, several calls with the same name, and text beside the calls.
#[tokio::test]
async fn gemini_calls_without_ids_or_signatures_run_once_each() {
    let call = |host: &str| json!({"functionCall": {"name": "ping", "args": {"host": host}}});
    let first = gemini_reply(&json!([{"text": "Two pings."}, call("a"), call("b")]));
    let again = gemini_reply(&json!([call("a")]));
    let server = StandIn::start(vec![
        first,
        again,
        gemini_reply(&json!([{"text": "Done."}])),
    ])
    .await;
    let world = World::new().await;
    assert_eq!(world.answer(&mut gemini(&server)).await, "Done.");
    assert_eq!((world.calls(), server.received().len()), (3, 3));
    let contents = &server.received()[2].body["contents"];
    let results: Vec<&Value> = [2, 4]
        .iter()
        .flat_map(|at| contents[at]["parts"].as_array().unwrap())
        .map(|part| &part["functionResponse"])
        .collect();
    assert_eq!(results.len(), 3);
    for (result, expected) in results
        .iter()
        .zip(["pong from a", "pong from b", "pong from a"])
    {
        assert_eq!(result["name"], "ping");
        assert!(
            result["response"].to_string().contains(expected),
            "{result}"
        );
    }
}

// The tokens of a compaction are not in the counts at the top level of the usage, so they are added to the usage of the run.
#[tokio::test]
async fn compaction_iteration_counts_towards_the_run() {
    use tool_core::store::{RunFilter, RunStore as _, Scope};
    let usage = json!({"input_tokens": 20, "output_tokens": 7, "iterations": [
        {"type": "compaction", "input_tokens": 1000, "output_tokens": 100},
        {"type": "message", "input_tokens": 20, "output_tokens": 7}]});
    let mut reply = [vec![start()], text(0, "Done.")].concat();
    reply.push(
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
    );
    reply.push(json!({"type": "message_stop"}));
    let server = StandIn::start(vec![events(reply)]).await;
    let world = World::new().await;
    let mut model = anthropic(&server).build().unwrap();
    assert_eq!(world.answer(&mut model).await, "Done.");
    let filter = RunFilter::default();
    let runs = world.store.list_runs(Scope::All, &filter).await.unwrap();
    let usage = runs[0].progress.usage;
    assert_eq!((usage.input_tokens, usage.output_tokens), (1020, 107));
}
