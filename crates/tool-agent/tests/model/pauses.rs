//! Turns that Anthropic pauses (`pause_turn`): the limit on their continuations.

use serde_json::{Value, json};
use tool_agent::model::{Endpoint, HttpModel};
use tool_core::store::{MemoryStore, RunCause, RunFilter, RunStore as _, Scope};
use tool_core::turn::{Outcome, TurnError, Turns};

use crate::standin::{Act, StandIn, events};
use crate::support::{World, answer, anthropic, call, start, stop};

/// Returns a search that the provider runs itself.
fn search(id: &str) -> Value {
    json!({"type": "server_tool_use", "id": id, "name": "web_search", "input": {"query": id}})
}

/// Returns a reply that the provider pauses during its search.
fn paused(id: &str) -> Vec<Act> {
    let begun = json!({"type": "content_block_start", "index": 0, "content_block": search(id)});
    let ended = json!({"type": "content_block_stop", "index": 0});
    events([vec![start(), begun, ended], stop("pause_turn")].concat())
}

/// Returns a world whose runs have these limits.
async fn limited(limits: impl Fn(Turns) -> Turns) -> World {
    let mut world = World::new().await;
    world.turns = limits(Turns::new(world.store.clone()));
    world
}

async fn causes(store: &MemoryStore) -> Vec<(Option<RunCause>, u32)> {
    let runs = store.list_runs(Scope::All, &RunFilter::default()).await;
    let runs = runs.unwrap().into_iter();
    let mut runs: Vec<_> = runs.collect();
    runs.sort_by_key(|run| run.id.number());
    runs.into_iter()
        .map(|run| (run.cause, run.progress.steps))
        .collect()
}

// A turn is continued up to the limit, every paused message is sent back unchanged, and then the run fails with its own cause.
#[tokio::test]
async fn turn_that_is_paused_again_and_again_reaches_its_limit() {
    let server = StandIn::start(vec![paused("s-1"), paused("s-2"), paused("s-3")]).await;
    let world = limited(|turns| turns.most_pauses(2)).await;
    let mut model = anthropic(&server).build().unwrap();
    let error = world.drive(&mut model).await.unwrap_err();
    assert!(
        matches!(error, TurnError::PauseLimit { most: 2 }),
        "{error}"
    );
    assert!(error.to_string().contains("Turns::most_pauses"), "{error}");
    assert!(model.error().is_none());
    let received = server.received();
    assert_eq!(received.len(), 3);
    let sent = |request: usize, message: usize| {
        received[request].body["messages"][message]["content"].clone()
    };
    assert_eq!(sent(2, 1), json!([search("s-1")]));
    assert_eq!(sent(2, 2), json!([search("s-2")]));
    assert_eq!(
        causes(&world.store).await,
        [(Some(RunCause::Failed), 3)],
        "each request counts in the row of the run"
    );

    // Further drives send nothing, not even in a new process.
    let mut world = world;
    world.turns = Turns::new(world.store.clone()).most_pauses(2);
    let error = world.drive(&mut model).await.unwrap_err();
    assert!(
        matches!(error, TurnError::PauseLimit { most: 2 }),
        "{error}"
    );
    assert_eq!(server.received().len(), 3);
}

// With a higher limit, the thread continues where it stopped. A message of the user resets the count.
#[tokio::test]
async fn higher_limit_or_a_new_message_continues_the_turn() {
    for says in [false, true] {
        let replies = vec![paused("s-1"), paused("s-2"), events(answer("Found it."))];
        let server = StandIn::start(replies).await;
        let mut world = limited(|turns| turns.most_pauses(1)).await;
        let mut model = anthropic(&server).build().unwrap();
        assert!(world.drive(&mut model).await.is_err());
        assert_eq!(server.received().len(), 2);
        if says {
            world.turns.say("Go on.", &world.cx).await.unwrap();
        } else {
            world.turns = Turns::new(world.store.clone()).most_pauses(2);
        }
        assert_eq!(world.answer(&mut model).await, "Found it.");
        let messages = server.received()[2].body["messages"].clone();
        assert_eq!(messages[2]["content"], json!([search("s-2")]));
        assert_eq!(messages.as_array().unwrap().len(), if says { 4 } else { 3 });
    }
}

// Continuations do not count as steps of the run: the paused message and its answer are one step.
#[tokio::test]
async fn continuations_are_not_steps() {
    let mut replies: Vec<_> = (1..=5)
        .map(|number| paused(&format!("s-{number}")))
        .collect();
    replies.push(events(answer("Found it.")));
    let server = StandIn::start(replies).await;
    let world = limited(|turns| turns.most_steps(1)).await;
    let mut model = anthropic(&server).build().unwrap();
    assert_eq!(world.answer(&mut model).await, "Found it.");
    assert_eq!(server.received().len(), 6);
}

// Only consecutive pauses count: a call between them resets the count, and the next step counts as one.
#[tokio::test]
async fn call_between_pauses_begins_a_new_count() {
    let calling = [vec![start()], call(0, "t-1"), stop("tool_use")].concat();
    let replies = vec![
        paused("s-1"),
        events(calling),
        paused("s-2"),
        events(answer("Found it.")),
    ];
    let server = StandIn::start(replies).await;
    let world = limited(|turns| turns.most_pauses(1).most_steps(2)).await;
    let mut model = anthropic(&server).build().unwrap();
    assert_eq!(world.answer(&mut model).await, "Found it.");
    assert_eq!((world.calls(), server.received().len()), (1, 4));
}

// Calls in a paused message run, and the provider continues the turn with their results.
#[tokio::test]
async fn calls_of_a_paused_message_run() {
    let both = [vec![start()], call(0, "t-1"), stop("pause_turn")].concat();
    let server = StandIn::start(vec![events(both), events(answer("Done."))]).await;
    let world = World::new().await;
    let mut model = anthropic(&server).build().unwrap();
    assert_eq!(world.answer(&mut model).await, "Done.");
    assert_eq!((world.calls(), server.received().len()), (1, 2));
}

// A limit of 0 allows no continuation, and tokens of continuations count towards the limit on tokens.
#[tokio::test]
async fn limits_of_zero_and_of_tokens_apply() {
    let server = StandIn::start(vec![paused("s-1")]).await;
    let world = limited(|turns| turns.most_pauses(0)).await;
    let mut model = anthropic(&server).build().unwrap();
    assert!(world.drive(&mut model).await.is_err());
    assert_eq!(server.received().len(), 1);

    let server = StandIn::start(vec![paused("s-1")]).await;
    let world = limited(|turns| turns.most_tokens(50)).await;
    let mut model = anthropic(&server).build().unwrap();
    let outcome = world.drive(&mut model).await.unwrap();
    assert!(matches!(outcome, Outcome::Budget), "{outcome:?}");
    assert_eq!(server.received().len(), 2);
}

// A paused message is continued by the next model of a chain, which gets its text without the opaque parts.
#[tokio::test]
async fn next_model_of_a_chain_continues_a_paused_turn() {
    let refused = crate::standin::json_response(401, &[], &json!({}));
    let first = StandIn::start(vec![paused("s-1"), refused]).await;
    let second = StandIn::start(vec![events(crate::support::chat_answer("Found it."))]).await;
    let next = HttpModel::builder(Endpoint::compatible(&second.url), "local");
    let mut model = anthropic(&first).build().unwrap().or(next.build().unwrap());
    assert_eq!(World::new().await.answer(&mut model).await, "Found it.");
    let sent = second.received()[0].body.to_string();
    assert!(!sent.contains("server_tool_use"), "{sent}");
}
