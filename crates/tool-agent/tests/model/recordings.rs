//! Recordings: the content of the file, and the replay.

use std::time::Duration;

use serde_json::json;
use tool_agent::model::{ApiKey, Endpoint, HttpModel, ModelErrorKind};

use crate::standin::{Act, StandIn, cut, events, json_response};
use crate::support::{
    Events, KEY, World, answer, anthropic, call, chat, chat_answer, error, quick, start, stop, text,
};

/// Returns a model that must not reach a server.
fn offline() -> HttpModel {
    let mut retry = quick();
    retry.attempts = 5;
    let endpoint =
        Endpoint::anthropic(ApiKey::new("another key")).base_url("http://127.0.0.1:9/v1");
    let builder = HttpModel::builder(endpoint, "claude").retry(retry);
    builder.build().unwrap()
}

// A conversation with a failed attempt, a broken stream and a call is replayed without a server, with the same events.
#[tokio::test]
async fn recorded_conversation_is_replayed() {
    let calling = [vec![start()], call(0, "t-1"), stop("tool_use")].concat();
    let server = StandIn::start(vec![
        json_response(
            529,
            &[("retry-after-ms", "1")],
            &json!({"error": {"message": format!("busy, {KEY}")}}),
        ),
        cut([vec![start()], text(0, "Half")].concat()),
        events([start(), error("overloaded_error")]),
        events(calling),
        events(answer("Done.")),
    ])
    .await;
    let mut retry = quick();
    retry.attempts = 5;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.jsonl");
    let live = anthropic(&server)
        .retry(retry)
        .build()
        .unwrap()
        .record(&path)
        .unwrap();
    let (mut live, seen) = Events::of(live);
    assert_eq!(World::new().await.answer(&mut live).await, "Done.");

    let file = std::fs::read_to_string(&path).unwrap();
    assert_eq!(file.lines().count(), 5);
    for secret in [KEY, "127.0.0.1", "x-api-key"] {
        assert!(!file.contains(secret), "{secret} is in the recording");
    }

    let (mut replayed, again) = Events::of(offline().replay(&path).unwrap());
    let world = World::new().await;
    assert_eq!(world.answer(&mut replayed).await, "Done.");
    assert_eq!(world.calls(), 1);
    assert_eq!(again.lines(), seen.lines());
    assert_eq!(server.received().len(), 5);
}

// A request that was not recorded fails, and the error states the place of the first difference.
#[tokio::test]
async fn different_request_is_refused() {
    let server = StandIn::start(vec![events(answer("Done."))]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.jsonl");
    let mut live = anthropic(&server).build().unwrap().record(&path).unwrap();
    World::new().await.answer(&mut live).await;

    let world = World::new().await;
    world.turns.say("And quickly.", &world.cx).await.unwrap();
    let mut model = offline().replay(&path).unwrap();
    let failure = world.failure(&mut model).await;
    assert_eq!(
        (failure.kind, failure.attempts),
        (ModelErrorKind::NotRecorded, 1)
    );
    assert!(
        failure.message.starts_with(
            "request 1 differs from the next recorded request: its body differs at `/messages/"
        ),
        "{failure}"
    );

    // A response is replayed once.
    let mut model = offline().replay(&path).unwrap();
    World::new().await.answer(&mut model).await;
    let failure = World::new().await.failure(&mut model).await;
    let text = "request 2 has no recorded response left; record the conversation again";
    assert_eq!(failure.message, text);

    let server = StandIn::start(vec![events(chat_answer("Done."))]).await;
    let mut model = chat(&server).build().unwrap().replay(&path).unwrap();
    let failure = World::new().await.failure(&mut model).await;
    assert!(
        failure.message.contains(
            "its path is `/v1/chat/completions`, and the recorded path is `/v1/messages`"
        ),
        "{failure}"
    );
}

#[test]
fn faulty_file_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.jsonl");
    let missing = offline().replay(&path).unwrap_err().to_string();
    assert!(missing.contains("talk.jsonl cannot be opened"), "{missing}");
    std::fs::write(&path, "{\"request\":1}\n").unwrap();
    let faulty = offline().replay(&path).unwrap_err().to_string();
    assert!(
        faulty.starts_with("line 1 of the recording") && faulty.ends_with("record it again"),
        "{faulty}"
    );
}

// Responses are found by their requests, so runs that were recorded at the same time are replayed in any order.
#[tokio::test]
async fn concurrent_runs_are_replayed_in_any_order() {
    let slow = |said: &str, millis| {
        let mut acts = vec![Act::Pause(Duration::from_millis(millis))];
        acts.extend(events(answer(said)));
        acts
    };
    let server = StandIn::start(vec![slow("One.", 200), slow("Two.", 0)]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("talk.jsonl");
    let live = anthropic(&server).build().unwrap().record(&path).unwrap();
    let ask = async |mut model: HttpModel, text: &str| {
        let world = World::new().await;
        world.turns.say(text, &world.cx).await.unwrap();
        world.answer(&mut model).await
    };
    let first = ask(live.clone(), "First.");
    let second = async {
        while server.received().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        ask(live.clone(), "Second.").await
    };
    let (one, two) = tokio::join!(first, second);
    assert_eq!((&*one, &*two), ("One.", "Two."));
    let replayed = offline().replay(&path).unwrap();
    assert_eq!(ask(replayed.clone(), "First.").await, one);
    assert_eq!(ask(replayed, "Second.").await, two);
}
