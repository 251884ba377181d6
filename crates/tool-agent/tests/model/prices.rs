//! Prices and costs: failed attempts, chains, limits, and tables of prices.

use tool_agent::model::{HttpModel, ModelPrice, Prices};
use tool_core::store::{RunFilter, RunProgress, RunStore as _, Scope, Usage};
use tool_core::turn::{Outcome, StoredMessage, TurnError};

use crate::standin::{StandIn, cut, events};
use crate::support::{World, answer, anthropic, call, chat, chat_answer, start, stop, text};

/// A price that is set only for input and output, so cached tokens cost as much as other tokens of the input.
const PRICE: ModelPrice = ModelPrice::new(3_000_000, 15_000_000);

async fn progress(world: &World) -> RunProgress {
    let filter = RunFilter::default();
    let runs = world.store.list_runs(Scope::All, &filter).await.unwrap();
    runs[0].progress
}

fn cost(message: Option<StoredMessage>) -> Option<u64> {
    message.unwrap().message().usage.unwrap().cost_micros
}

// Each kind of token has its own price, and a price that is not set is the price of the input.
#[test]
fn cost_is_the_sum_of_the_parts() {
    let usage = Usage {
        input_tokens: 1_000_000,
        cache_read_tokens: Some(500_000),
        cache_write_5m_tokens: Some(200_000),
        cache_write_1h_tokens: Some(100_000),
        output_tokens: 300_000,
        reasoning_tokens: Some(250_000),
        cost_micros: None,
    };
    assert_eq!(PRICE.cost(&usage), 3_000_000 + 4_500_000);
    let all = PRICE
        .cache_read(300_000)
        .cache_write_5m(3_750_000)
        .cache_write_1h(6_000_000);
    let parts = 200_000 * 3 + 500_000 * 3 / 10 + 750_000 + 600_000 + 4_500_000;
    assert_eq!(all.cost(&usage), parts);
    // The sum is rounded up once, and not each part.
    let little = Usage {
        input_tokens: 1,
        output_tokens: 1,
        ..Usage::default()
    };
    assert_eq!(ModelPrice::new(1, 1).cost(&little), 1);
    assert_eq!(ModelPrice::new(0, 0).cost(&usage), 0);
    // Counters and prices may have any value, and parts may exceed the input.
    let absurd = Usage {
        cache_read_tokens: Some(u64::MAX),
        output_tokens: u64::MAX,
        ..little
    };
    assert_eq!(ModelPrice::new(1, u64::MAX).cost(&absurd), u64::MAX);
    assert_eq!(
        PRICE.cache_read(0).cost(&Usage {
            output_tokens: 0,
            ..absurd
        }),
        0
    );
}

// The stored message has the cost of its request, and the run also has the cost of the attempt that failed.
#[tokio::test]
async fn failed_attempts_have_a_cost() {
    let broken = cut([vec![start()], text(0, "Half")].concat());
    let server = StandIn::start(vec![broken, events(answer("Done."))]).await;
    let mut model = anthropic(&server).price(PRICE).build().unwrap();
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    // 20 tokens of input and 7 of output; the failed attempt reported 20 and 1.
    let last = world.turns.last(&world.cx).await.unwrap();
    assert_eq!(cost(last), Some(165));
    let progress = progress(&world).await;
    assert_eq!(progress.usage.cost_micros, Some(165 + 75));
}

// In a chain, each attempt is charged at the price of its own model.
#[tokio::test]
async fn models_of_a_chain_have_their_own_prices() {
    let first = StandIn::start(vec![cut([start()])]).await;
    let second = StandIn::start(vec![events(chat_answer("Done."))]).await;
    let dear = anthropic(&first).price(PRICE).build().unwrap();
    let cheap = ModelPrice::new(1_000_000, 2_000_000);
    let mut model = dear.or(chat(&second).price(cheap).build().unwrap());
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    let last = world.turns.last(&world.cx).await.unwrap();
    assert_eq!(cost(last), Some(9 + 3 * 2));
    // Three attempts at the first model, with 20 tokens of input and 1 of output each.
    let progress = progress(&world).await;
    assert_eq!(progress.usage.cost_micros, Some(15 + 3 * 75));
}

// A response without usage has no cost: it is counted as unmeasured.
#[tokio::test]
async fn response_without_usage_has_no_cost() {
    let mut silent = chat_answer("Done.");
    silent.remove(2);
    let server = StandIn::start(vec![events(silent)]).await;
    let mut model = chat(&server).price(PRICE).build().unwrap();
    let world = World::new().await;
    assert_eq!(world.answer(&mut model).await, "Done.");
    let progress = progress(&world).await;
    assert_eq!((progress.usage.cost_micros, progress.unmeasured), (None, 1));
}

async fn limited(price: Option<ModelPrice>) -> (Result<Outcome, TurnError>, usize) {
    let calling = [vec![start()], call(0, "t-1"), stop("tool_use")].concat();
    let server = StandIn::start(vec![events(calling)]).await;
    let model = anthropic(&server);
    let mut model: HttpModel = match price {
        Some(price) => model.price(price),
        None => model,
    }
    .build()
    .unwrap();
    let mut world = World::new().await;
    world.turns = world.turns.most_cost(300);
    let outcome = world.drive(&mut model).await;
    (outcome, server.received().len())
}

// A run ends when its cost has reached the limit. A limit on the cost of a model without a price is an error.
#[tokio::test]
async fn limit_on_the_cost_ends_the_run() {
    let (outcome, requests) = limited(Some(PRICE)).await;
    assert!(matches!(outcome, Ok(Outcome::Budget)), "{outcome:?}");
    assert_eq!(requests, 2);
    let (outcome, requests) = limited(None).await;
    let error = outcome.unwrap_err();
    assert!(matches!(error, TurnError::Unpriced), "{error:?}");
    assert!(error.to_string().contains("HttpModelBuilder::price"));
    assert_eq!(requests, 1);
}

// Prices are whole numbers, and every fault in a table is named.
#[test]
fn faulty_tables_are_refused() {
    let table = |text: &str| serde_json::from_str::<Prices>(text);
    let good = table(r#"{"a": {"m": {"input": 3, "output": 4, "cache_write_1h": 5}}}"#).unwrap();
    let price = ModelPrice::new(3, 4).cache_write_1h(5);
    assert_eq!(good, Prices::new().with("a", "m", price));
    let error = good.price("a", "n").unwrap_err().to_string();
    assert_eq!(
        error,
        "the prices contain no model `n` of `a`: add its price; the models with prices are a/m"
    );
    for (text, part) in [
        (
            r#"{"a": {"m": {"input": 3.5, "output": 4}}}"#,
            "3000000 for 3.00",
        ),
        (
            r#"{"a": {"m": {"input": -3, "output": 4}}}"#,
            "3000000 for 3.00",
        ),
        (
            r#"{"a": {"m": {"input": "3", "output": 4}}}"#,
            "3000000 for 3.00",
        ),
        (r#"{"a": {"m": {"input": 3}}}"#, "missing field `output`"),
        (
            r#"{"a": {"m": {"input": 3, "output": 4, "cache": 1}}}"#,
            "unknown field `cache`",
        ),
        (
            r#"{"a": {"m": {"input": 3, "output": 4}, "m": {"input": 3, "output": 4}}}"#,
            "`m` twice",
        ),
        (r#"{"a": {" ": {"input": 3, "output": 4}}}"#, "is empty"),
        (
            r#"{"a": {"input": 3, "output": 4}}"#,
            "invalid type: integer `3`",
        ),
    ] {
        let error = table(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
}
