//! Limits on requests that all processes with the same store share. Two models with one store represent two processes.

use std::time::{Duration, Instant};

use serde_json::json;
use tool_agent::model::{HttpModel, ModelErrorKind};
use tool_core::limits::{Limit, SharedLimits};
use tool_core::store::MemoryStore;

use crate::standin::{StandIn, events, json_response};
use crate::support::{World, chat, chat_answer, quick};

fn limits(store: &MemoryStore, limit: Limit) -> SharedLimits {
    let limits = SharedLimits::builder(store.clone(), "models").limit(limit);
    limits.build().unwrap()
}

async fn answering() -> StandIn {
    StandIn::start(vec![events(chat_answer("Hello."))]).await
}

fn model(server: &StandIn, store: &MemoryStore, limit: Limit, budget: Duration) -> HttpModel {
    let mut retry = quick();
    retry.budget = budget;
    let builder = chat(server).retry(retry);
    builder.shared_limits(limits(store, limit)).build().unwrap()
}

// If the limit is exhausted and the wait is too long for the step, no request is sent and the run is suspended for the wait.
#[tokio::test]
async fn exhausted_limit_suspends_the_run() {
    let (server, store) = (answering().await, MemoryStore::default());
    let limit = || Limit::quota(1, Duration::from_mins(5));
    let budget = Duration::from_secs(1);
    let mut first = model(&server, &store, limit(), budget);
    assert_eq!(World::new().await.answer(&mut first).await, "Hello.");

    let mut second = model(&server, &store, limit(), budget);
    let world = World::new().await;
    let error = world.drive(&mut second).await.unwrap_err();
    let wait = error.resumes_after().unwrap();
    assert!(wait > Duration::from_secs(290), "{wait:?}");
    assert_eq!(server.received().len(), 1);
    let failure = second.error().unwrap();
    assert_eq!(
        (failure.kind, failure.attempts),
        (ModelErrorKind::RateLimited, 0)
    );
    assert!(failure.message.contains("limit `models/quota"), "{failure}");
}

// If the wait fits into the budget of the step, the step waits and then sends the request.
#[tokio::test]
async fn short_wait_is_waited_for() {
    let (server, store) = (answering().await, MemoryStore::default());
    let limit = || Limit::quota(1, Duration::from_millis(700));
    let budget = Duration::from_secs(5);
    let began = Instant::now();
    for _ in 0..2 {
        let mut model = model(&server, &store, limit(), budget);
        assert_eq!(World::new().await.answer(&mut model).await, "Hello.");
    }
    assert!(began.elapsed() >= Duration::from_millis(690));
    assert_eq!(server.received().len(), 2);
}

// Each attempt is a request, and a chain asks its next model at once if the limit of the first one is exhausted.
#[tokio::test]
async fn attempts_count_and_a_chain_continues() {
    let failing = StandIn::start(vec![json_response(503, &[], &json!({}))]).await;
    let (other, store) = (answering().await, MemoryStore::default());
    let limit = Limit::quota(2, Duration::from_mins(5));
    let mut retry = quick();
    retry.attempts = 5;
    let first = chat(&failing)
        .retry(retry)
        .shared_limits(limits(&store, limit));
    let mut model = first.build().unwrap().or(chat(&other).build().unwrap());
    assert_eq!(World::new().await.answer(&mut model).await, "Hello.");
    assert_eq!((failing.received().len(), other.received().len()), (2, 1));
}

// A permit is returned when the response has arrived, so consecutive requests need only one permit.
#[tokio::test]
async fn permit_returns_with_the_response() {
    let (server, store) = (answering().await, MemoryStore::default());
    for _ in 0..3 {
        let budget = Duration::from_secs(20);
        let mut model = model(&server, &store, Limit::at_once(1), budget);
        assert_eq!(World::new().await.answer(&mut model).await, "Hello.");
    }
    assert_eq!(server.received().len(), 3);
}

// A step holds no permit while it waits for its next attempt, so another process can send its request.
#[tokio::test]
async fn waiting_step_holds_no_permit() {
    let failing = StandIn::start(vec![json_response(503, &[], &json!({}))]).await;
    let (server, store) = (answering().await, MemoryStore::default());
    let mut retry = quick();
    retry.first_wait = Duration::from_mins(1);
    retry.longest_wait = Duration::from_mins(1);
    let waiting = chat(&failing).retry(retry);
    let waiting = waiting.shared_limits(limits(&store, Limit::at_once(1)));
    let mut waiting = waiting.build().unwrap();
    let mut other = model(&server, &store, Limit::at_once(1), Duration::from_secs(9));
    let first = World::new().await;
    let answer = async {
        while failing.received().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        World::new().await.answer(&mut other).await
    };
    tokio::select! {
        outcome = first.drive(&mut waiting) => panic!("{outcome:?}"),
        answer = answer => assert_eq!(answer, "Hello."),
    }
}
