//! Streams that break, end early, or report an error.

use std::time::Duration;

use serde_json::json;
use tool_agent::model::{ModelErrorKind, TimeoutPhase, Timeouts};
use tool_core::turn::Outcome;
use tool_core::{CancellationToken, ToolContext};

use crate::standin::{Act, StandIn, cut, events, json_response};
use crate::support::{
    Events, KEY, World, answer, anthropic, call, chat, chat_answer, error, start, stop, text,
};

// The status is 200, and the first event of the stream is an error.
#[tokio::test]
async fn error_in_the_first_event_is_retried() {
    let server = StandIn::start(vec![
        events([error("overloaded_error")]),
        events(answer("Done.")),
    ])
    .await;
    let (mut model, seen) = Events::of(anthropic(&server).build().unwrap());
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    let expected = [
        "request claude 1",
        "failed overloaded retry",
        "request claude 2",
        "text Done.",
    ];
    assert_eq!(seen.lines(), expected);
}

// Text that was shown before an error is withdrawn, is not stored, and its tokens count towards the run.
#[tokio::test]
async fn error_after_text_restarts_the_step() {
    let broken = [
        vec![start()],
        text(0, "Half of"),
        vec![error("overloaded_error")],
    ]
    .concat();
    let server = StandIn::start(vec![events(broken), events(answer("Done."))]).await;
    let (mut model, seen) = Events::of(anthropic(&server).build().unwrap());
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    let expected = [
        "request claude 1",
        "text Half of",
        "restarted",
        "failed overloaded retry",
        "request claude 2",
        "text Done.",
    ];
    assert_eq!(seen.lines(), expected);
    let stored = world.stored().await;
    assert_eq!(stored.len(), 2, "{stored:?}");
    assert!(!stored.concat().contains("Half of"));
    // The message has the 20 + 7 tokens of its own request, and the run also the 20 + 1 of the failed attempt.
    assert!(
        stored[1].contains(r#""input_tokens":20,"output_tokens":7"#),
        "{stored:?}"
    );
    assert_eq!(tokens_of_the_run(&world).await, 27 + 21);
}

// A complete call runs only with the final event: not before an error, a broken connection, or a clean end of the stream.
#[tokio::test]
async fn call_without_the_final_event_does_not_run() {
    let begun = || [vec![start()], call(0, "t-1")].concat();
    let failed = [begun(), vec![error("api_error")]].concat();
    for response in [events(failed), cut(begun()), events(begun())] {
        let server = StandIn::start(vec![response.clone(), events(answer("Done."))]).await;
        let mut model = anthropic(&server).build().unwrap();
        let world = World::new().await;
        assert_eq!(world.answer(&mut model).await, "Done.", "{response:?}");
        assert_eq!(world.calls(), 0, "{response:?}");
        assert_eq!(server.received().len(), 2, "{response:?}");
    }
}

#[tokio::test]
async fn stream_that_always_breaks_fails_after_three_attempts() {
    let server = StandIn::start(vec![cut([start()])]).await;
    let mut model = anthropic(&server).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(failure.kind, ModelErrorKind::BrokenStream);
    assert_eq!((failure.attempts, server.received().len()), (3, 3));
    // The input of all three attempts is counted.
    assert_eq!(failure.usage.unwrap().input_tokens, 60);
}

// A call with its final event runs once, and the next request has its result.
#[tokio::test]
async fn call_runs_once_and_the_next_request_has_its_result() {
    let calling = [vec![start()], call(0, "t-1"), stop("tool_use")].concat();
    let server = StandIn::start(vec![events(calling), events(answer("Done."))]).await;
    let mut model = anthropic(&server).build().unwrap();
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    assert_eq!(world.calls(), 1);
    let messages = &server.received()[1].body["messages"];
    assert_eq!(messages[1]["content"][0]["input"], json!({"host": "a"}));
    assert_eq!(messages[2]["content"][0]["content"], "pong from a");
}

// Anthropic's stop reason `pause_turn`: the client sends the message back unchanged.
#[tokio::test]
async fn paused_turn_is_sent_back_unchanged() {
    let block = json!({"type": "server_tool_use", "id": "s-1", "name": "web_search", "input": {"query": "ping"}});
    let paused = [
        vec![
            start(),
            json!({"type": "content_block_start", "index": 0, "content_block": block.clone()}),
            json!({"type": "content_block_stop", "index": 0}),
        ],
        stop("pause_turn"),
    ]
    .concat();
    let server = StandIn::start(vec![events(paused), events(answer("Found it."))]).await;
    let mut model = anthropic(&server).build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Found it.");
    let messages = server.received()[1].body["messages"].clone();
    assert_eq!(
        messages[1],
        json!({"role": "assistant", "content": [block]})
    );
}

// An unknown stop reason ends the run and is stored, and the calls of the message do not run.
#[tokio::test]
async fn unknown_stop_reason_ends_the_run() {
    let odd = [
        vec![start()],
        text(0, "So"),
        call(1, "t-1"),
        stop("surprised"),
    ]
    .concat();
    let server = StandIn::start(vec![events(odd), events(answer("Done."))]).await;
    let mut model = anthropic(&server).build().unwrap();
    let world = World::new().await;
    let outcome = world.drive(&mut model).await.unwrap();
    assert!(!matches!(outcome, Outcome::Busy(_)), "{outcome:?}");
    assert_eq!(world.calls(), 0);
    assert!(world.stored().await[1].contains(r#""stop":"surprised""#));
}

fn short() -> Timeouts {
    let mut timeouts = Timeouts::default();
    timeouts.first_event = Duration::from_millis(300);
    timeouts.idle = Duration::from_millis(150);
    timeouts
}

// The idle timeout is measured between events: pings, comments and bytes of an incomplete event do not restart it.
#[tokio::test]
async fn silent_stream_times_out_despite_pings_and_bytes() {
    let noises = [
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        ": keep alive\n\n",
        "data",
    ];
    for noise in noises {
        let mut silent = cut([start()]);
        for _ in 0..40 {
            silent.push(Act::Pause(Duration::from_millis(25)));
            silent.push(Act::Send(noise.to_owned()));
        }
        // The timeout ends the attempt before the rest of its reply arrives.
        silent.extend(cut([text(0, "Late."), stop("end_turn")].concat()).split_off(1));
        silent.push(Act::UntilClosed);
        let server = StandIn::start(vec![silent, events(answer("Done."))]).await;
        let (model, seen) = Events::of(anthropic(&server).timeouts(short()).build().unwrap());
        let mut model = model;
        assert_eq!(World::new().await.answer(&mut model).await, "Done.");
        assert!(
            seen.lines()
                .contains(&"failed idle_timeout retry".to_owned()),
            "{noise}: {:?}",
            seen.lines()
        );
        server.closed(1).await;
    }
}

// A slow stream is read to its end, however long it takes, if its events arrive in time.
#[tokio::test]
async fn slow_stream_with_events_is_read_to_its_end() {
    let mut slow = cut([start()]);
    for event in [text(0, "Slow."), stop("end_turn")].concat() {
        slow.push(Act::Pause(Duration::from_millis(70)));
        let text = format!("data: {event}\n\n");
        let (first, second) = text.split_at(9);
        slow.extend([first, second].map(|piece| Act::Send(piece.to_owned())));
    }
    slow.push(Act::End);
    let server = StandIn::start(vec![slow]).await;
    let mut model = anthropic(&server).timeouts(short()).build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Slow.");
    assert_eq!(server.received().len(), 1);
}

#[tokio::test]
async fn reply_that_does_not_begin_times_out() {
    let headless = vec![Act::UntilClosed];
    let mut empty = cut([]);
    empty.push(Act::UntilClosed);
    for silent in [headless, empty] {
        let server = StandIn::start(vec![silent]).await;
        let mut model = anthropic(&server).timeouts(short()).build().unwrap();
        let failure = World::new().await.failure(&mut model).await;
        let kind = ModelErrorKind::Timeout(TimeoutPhase::FirstEvent);
        assert_eq!((failure.kind, failure.attempts), (kind, 3));
        assert!(
            failure.to_string().contains("the timeout is 0.3 s"),
            "{failure}"
        );
    }
}

#[tokio::test]
async fn refused_connection_is_retried() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let endpoint = tool_agent::model::Endpoint::compatible(url);
    let builder = tool_agent::model::HttpModel::builder(endpoint, "local");
    let mut model = builder.retry(crate::support::quick()).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(
        (failure.kind, failure.attempts),
        (ModelErrorKind::Connection, 3)
    );
}

// A reply that violates the format is requested again, and its calls do not run.
#[tokio::test]
async fn invalid_reply_is_retried() {
    let torn = vec![
        Act::Head(200, vec![("content-type", "text/event-stream".to_owned())]),
        Act::Send("data: {\"type\": \"content_block\n\n".to_owned()),
        Act::End,
    ];
    let server = StandIn::start(vec![torn, events(answer("Done."))]).await;
    let (mut model, seen) = Events::of(anthropic(&server).build().unwrap());
    assert_eq!(World::new().await.answer(&mut model).await, "Done.");
    assert!(
        seen.lines()
            .contains(&"failed invalid_reply retry".to_owned())
    );
}

// If two calls have the same id, the reply is invalid: no call runs, and the request is repeated.
#[tokio::test]
async fn repeated_call_id_is_retried_and_runs_nothing() {
    let twice = [
        vec![start()],
        call(0, "t-1"),
        call(1, "t-1"),
        stop("tool_use"),
    ]
    .concat();
    let server = StandIn::start(vec![events(twice), events(answer("Done."))]).await;
    let mut model = anthropic(&server).build().unwrap();
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    assert_eq!((world.calls(), server.received().len()), (0, 2));
}

// If an error in a stream has a `code` and a `type`, the more precise `code` decides.
#[tokio::test]
async fn precise_name_of_an_error_in_a_stream_decides() {
    let failed = json!({"error": {"message": "no credit", "type": "invalid_request_error", "code": "insufficient_quota"}});
    let server = StandIn::start(vec![events([failed])]).await;
    let mut model = chat(&server).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert_eq!(
        (failure.kind, failure.attempts),
        (ModelErrorKind::QuotaExhausted, 1)
    );
}

// A server that ignores `stream` sends one JSON body.
#[tokio::test]
async fn reply_that_is_not_streamed_is_read() {
    let whole = json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": "Whole."}, "finish_reason": "stop"}]});
    let server = StandIn::start(vec![json_response(200, &[], &whole)]).await;
    let (mut model, seen) = Events::of(chat(&server).build().unwrap());
    assert_eq!(World::new().await.answer(&mut model).await, "Whole.");
    assert_eq!(seen.lines(), ["request local 1", "text Whole."]);
}

// Stopping a run closes the connection, and the text that the user has seen is stored without calls.
#[tokio::test]
async fn cancelled_run_closes_the_connection_and_keeps_the_shown_text() {
    let mut endless = cut([vec![start()], text(0, "I was about to"), call(1, "t-1")].concat());
    endless.push(Act::UntilClosed);
    let server = StandIn::start(vec![endless]).await;
    let world = cancelled_at_a_call(&server).await;
    server.closed(1).await;
    let stored = world.stored().await;
    assert!(
        stored[1].contains("I was about to") && stored[1].contains(r#""truncated":true"#),
        "{stored:?}"
    );
    assert!(!stored[1].contains("t-1") && world.calls() == 0);
}

// Two concurrent runs with clones of one model get their own replies.
#[tokio::test]
async fn clones_have_separate_replies() {
    let slow = |said: &str| {
        let mut acts = cut([]);
        for event in chat_answer(said) {
            acts.push(Act::Pause(Duration::from_millis(20)));
            acts.extend(cut([event]).pop());
        }
        acts.push(Act::End);
        acts
    };
    let server = StandIn::start(vec![slow("One."), slow("Two.")]).await;
    let model = chat(&server).build().unwrap();
    let (mut first, mut second) = (model.clone(), model);
    let (one, two) = (World::new().await, World::new().await);
    let (one, two) = tokio::join!(one.answer(&mut first), two.answer(&mut second));
    let mut both = [one, two];
    both.sort();
    assert_eq!(both, ["One.", "Two."]);
}

// After the final event, the reply is complete, even if the connection breaks or stays open.
#[tokio::test]
async fn connection_after_the_final_event_does_not_matter() {
    let mut open = cut(answer("Done."));
    open.push(Act::UntilClosed);
    for response in [cut(answer("Done.")), open] {
        let server = StandIn::start(vec![response]).await;
        let mut timeouts = Timeouts::default();
        timeouts.idle = Duration::from_millis(200);
        let mut model = anthropic(&server).timeouts(timeouts).build().unwrap();
        assert_eq!(World::new().await.answer(&mut model).await, "Done.");
        assert_eq!(server.received().len(), 1);
    }
}

// If a server keeps the connection open after the final event, the reply is returned after a few seconds, and not after the idle timeout.
#[tokio::test]
async fn open_connection_delays_a_complete_reply_only_shortly() {
    let mut open = cut(answer("Done."));
    open.push(Act::UntilClosed);
    let server = StandIn::start(vec![open]).await;
    let mut model = anthropic(&server).build().unwrap();
    let world = World::new().await;
    let answer = tokio::time::timeout(Duration::from_secs(30), world.answer(&mut model));
    assert_eq!(answer.await.unwrap(), "Done.");
}

// If a server repeats the key in an error of a stream, the key is redacted from the text and the code.
#[tokio::test]
async fn key_is_redacted_from_errors_of_streams() {
    let failed =
        json!({"type": "error", "error": {"type": KEY, "message": format!("Unknown key {KEY}.")}});
    let server = StandIn::start(vec![events([failed])]).await;
    let mut model = anthropic(&server).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    let shown = format!("{failure:?} {failure}");
    assert!(!shown.contains(KEY), "{shown}");
    assert!(failure.message.contains("[secret:key]"), "{failure}");
}

// The tokens of a reply that was stopped before its first piece count towards the run.
#[tokio::test]
async fn tokens_before_the_first_piece_count() {
    let mut begun = cut([start()]);
    begun.push(Act::UntilClosed);
    let server = StandIn::start(vec![begun]).await;
    let token = CancellationToken::new();
    let world = World::of(ToolContext::builder().cancellation(token.clone())).await;
    let mut model = anthropic(&server).build().unwrap();
    let stop = async {
        while server.received().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // The first event arrives, which has the tokens and no piece.
        tokio::time::sleep(Duration::from_millis(200)).await;
        token.cancel();
    };
    let (outcome, ()) = tokio::join!(world.drive(&mut model), stop);
    assert!(matches!(outcome, Ok(Outcome::Cancelled)), "{outcome:?}");
    assert_eq!(tokens_of_the_run(&world).await, 21);
}

// Anthropic and OpenAI end every stream with a final event. A stream without this event is broken, even if it states why the model stopped.
#[tokio::test]
async fn stream_without_its_final_event_is_broken() {
    let mut calling = [vec![start()], call(0, "t-1"), stop("tool_use")].concat();
    calling.pop();
    let server = StandIn::start(vec![events(calling), events(answer("Done."))]).await;
    let mut model = anthropic(&server).build().unwrap();
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    assert_eq!((world.calls(), server.received().len()), (0, 2));

    let mut unmarked = chat_answer("Done.");
    unmarked.pop();
    let key = tool_agent::model::ApiKey::new(crate::support::KEY);
    for (own, requests) in [(true, 2), (false, 1)] {
        let server =
            StandIn::start(vec![events(unmarked.clone()), events(chat_answer("Done."))]).await;
        let mut model = if own {
            let endpoint = tool_agent::model::Endpoint::openai_chat(key.clone());
            let builder =
                tool_agent::model::HttpModel::builder(endpoint.base_url(&server.url), "gpt");
            builder.retry(crate::support::quick()).build().unwrap()
        } else {
            chat(&server).build().unwrap()
        };
        assert_eq!(World::new().await.answer(&mut model).await, "Done.");
        assert_eq!(server.received().len(), requests, "own: {own}");
    }
}

// Between the first event and the first piece, `first_event` applies, because some models reason without sending events.
#[tokio::test]
async fn silent_reasoning_has_the_time_of_the_first_piece() {
    let mut slow = cut([start()]);
    slow.push(Act::Pause(Duration::from_millis(400)));
    slow.extend(
        cut([text(0, "Thought."), stop("end_turn")].concat())
            .into_iter()
            .skip(1),
    );
    slow.push(Act::End);
    let server = StandIn::start(vec![slow]).await;
    let mut timeouts = short();
    timeouts.first_event = Duration::from_secs(30);
    let mut model = anthropic(&server).timeouts(timeouts).build().unwrap();
    assert_eq!(World::new().await.answer(&mut model).await, "Thought.");
    assert_eq!(server.received().len(), 1);
}

/// Drives a conversation that is cancelled when the arguments of a call arrive.
async fn cancelled_at_a_call(server: &StandIn) -> World {
    let token = tool_core::CancellationToken::new();
    let stopper = token.clone();
    let mut model = anthropic(server).build().unwrap().observe(move |event| {
        if let tool_agent::model::ModelEvent::Delta(tool_wire::Delta::Arguments { .. }) = event {
            stopper.cancel();
        }
    });
    let world = World::of(tool_core::ToolContext::builder().cancellation(token)).await;
    let outcome = world.drive(&mut model).await.unwrap();
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    world
}

/// Returns the tokens of the last run in the store.
async fn tokens_of_the_run(world: &World) -> u64 {
    use tool_core::store::{RunFilter, RunStore as _, Scope};
    let filter = RunFilter::default();
    let runs = world.store.list_runs(Scope::All, &filter).await.unwrap();
    runs[0].progress.usage.total_tokens()
}

// The tokens of failed attempts count towards the run: after a failure, after a repeated id, and after a cancellation before the first text.
#[tokio::test]
async fn tokens_of_failed_attempts_count_towards_the_run() {
    let server = StandIn::start(vec![cut([start()])]).await;
    let world = World::new().await;
    world
        .failure(&mut anthropic(&server).build().unwrap())
        .await;
    assert_eq!(tokens_of_the_run(&world).await, 3 * 21);

    let twice = [
        vec![start()],
        call(0, "t-1"),
        call(1, "t-1"),
        stop("tool_use"),
    ]
    .concat();
    let server = StandIn::start(vec![events(twice)]).await;
    let world = World::new().await;
    world
        .failure(&mut anthropic(&server).build().unwrap())
        .await;
    assert_eq!(tokens_of_the_run(&world).await, 3 * 27);

    let mut endless = cut([vec![start()], call(0, "t-1")].concat());
    endless.push(Act::UntilClosed);
    let server = StandIn::start(vec![cut([start()]), endless]).await;
    let world = cancelled_at_a_call(&server).await;
    assert_eq!(tokens_of_the_run(&world).await, 2 * 21);
}

// `keepalive` events of the Responses API do not restart the idle timeout.
#[tokio::test]
async fn keepalive_does_not_restart_the_idle_timeout() {
    let item = json!({"type": "message", "role": "assistant", "content": []});
    let mut silent = cut([
        json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
        json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "So"}),
    ]);
    for _ in 0..40 {
        silent.push(Act::Pause(Duration::from_millis(25)));
        silent.push(Act::Send("data: {\"type\": \"keepalive\"}\n\n".to_owned()));
    }
    silent.push(Act::UntilClosed);
    let server = StandIn::start(vec![silent]).await;
    let key = tool_agent::model::ApiKey::new(crate::support::KEY);
    let endpoint = tool_agent::model::Endpoint::openai(key).base_url(&server.url);
    let builder = tool_agent::model::HttpModel::builder(endpoint, "gpt").timeouts(short());
    let mut retry = crate::support::quick();
    retry.attempts = 1;
    let mut model = builder.retry(retry).build().unwrap();
    let failure = World::new().await.failure(&mut model).await;
    let kind = ModelErrorKind::Timeout(TimeoutPhase::Idle);
    assert_eq!(failure.kind, kind, "{failure}");
}

// A run that is stopped while the model waits for its next attempt ends at once, and sends no further
// request.
#[tokio::test]
async fn cancellation_ends_the_wait_before_a_retry() {
    let wait = [("retry-after", "50")];
    let server = StandIn::start(vec![json_response(429, &wait, &json!({}))]).await;
    let token = tool_core::CancellationToken::new();
    let stopper = token.clone();
    let mut model = chat(&server).build().unwrap().observe(move |event| {
        if let tool_agent::model::ModelEvent::Failed { retry_in, .. } = event {
            assert!(retry_in.is_some());
            stopper.cancel();
        }
    });
    let world = World::of(tool_core::ToolContext::builder().cancellation(token)).await;
    let outcome = world.drive(&mut model).await.unwrap();
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    assert_eq!(server.received().len(), 1);
}
