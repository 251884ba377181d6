//! Shared budgets of requests that are sent again, stopped, or too expensive.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use tool_agent::model::{HttpModel, ModelErrorKind, ModelPrice};
use tool_core::store::{
    BudgetFilter, BudgetId, BudgetRow, BudgetSettlement, BudgetStore, MemoryStore, NewReservation,
    Reserved, Scope, StoreError, StoreFuture, Workspace,
};
use tool_core::turn::{Budget, Outcome, TurnError};
use tool_core::{CancellationToken, ToolContext};

use crate::standin::{StandIn, cut, events, json_response};
use crate::support::{World, chat, chat_answer};

/// The output that is reserved for a request; its input is below 1,000 tokens.
const OUTPUT: u32 = 9_000;

/// The usage of [`chat_answer`].
const USED: u64 = 12;

/// Returns a reply that breaks before its usage is reported.
fn broken() -> Vec<crate::standin::Act> {
    cut([json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Half"}}]})])
}

async fn world(tokens: u64) -> (World, MemoryStore) {
    let store = MemoryStore::default();
    let budget = Budget::new(store.clone(), "day").most_tokens(tokens);
    (World::of(ToolContext::builder().with(budget)).await, store)
}

async fn row(store: &MemoryStore) -> BudgetRow {
    let id = BudgetId::new(&Workspace::new("acme"), "day").unwrap();
    store.budget(&id).await.unwrap().unwrap()
}

fn model(server: &StandIn) -> HttpModel {
    chat(server).max_tokens(OUTPUT).build().unwrap()
}

// An attempt whose stream broke without a usage keeps its reservation. An attempt that was refused uses no
// tokens.
#[tokio::test]
async fn broken_attempt_without_usage_keeps_its_reservation() {
    for (failure, unmeasured) in [(broken(), 1), (json_response(500, &[], &json!({})), 0)] {
        let server = StandIn::start(vec![failure, events(chat_answer("Done."))]).await;
        let (world, store) = world(100_000).await;
        assert_eq!(world.answer(&mut model(&server)).await, "Done.");
        let row = row(&store).await;
        assert_eq!((row.unmeasured, row.reserved.tokens), (unmeasured, 0));
        let kept = row.spent.tokens - USED;
        let expected = if unmeasured == 1 { 9_001..10_000 } else { 0..1 };
        assert!(expected.contains(&kept), "{row:?}");
    }
}

// A request is not sent again if the budget has less left than another attempt may use. The run then ends because of the budget.
#[tokio::test]
async fn attempt_that_does_not_fit_is_not_sent() {
    let server = StandIn::start(vec![broken(), events(chat_answer("Done."))]).await;
    let (world, store) = world(15_000).await;
    let mut model = model(&server);
    let outcome = world.drive(&mut model).await.unwrap();
    assert!(matches!(outcome, Outcome::SharedBudget(_)), "{outcome:?}");
    assert_eq!(model.error().unwrap().kind, ModelErrorKind::OverBudget);
    assert_eq!(server.received().len(), 1);
    let row = row(&store).await;
    assert_eq!((row.unmeasured, row.reserved.tokens), (1, 0));
    assert!(row.spent.tokens > 9_000, "{row:?}");
}

/// A store of budgets that fails after its first reservation.
#[derive(Clone, Default)]
struct Failing(MemoryStore, Arc<AtomicBool>);

impl BudgetStore for Failing {
    fn reserve_budget(&self, new: NewReservation) -> StoreFuture<'_, Reserved> {
        if self.1.swap(true, Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Unavailable("no network".into())) });
        }
        self.0.reserve_budget(new)
    }

    fn settle_budget(&self, end: BudgetSettlement) -> StoreFuture<'_, Option<BudgetRow>> {
        self.0.settle_budget(end)
    }

    fn budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, Option<BudgetRow>> {
        self.0.budget(id)
    }

    fn list_budgets<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a BudgetFilter,
    ) -> StoreFuture<'a, Vec<BudgetRow>> {
        self.0.list_budgets(scope, filter)
    }

    fn remove_budget<'a>(&'a self, id: &'a BudgetId) -> StoreFuture<'a, bool> {
        self.0.remove_budget(id)
    }
}

// If the store of the budget fails before a request is sent again, the error names the store and does not state that the budget is used up.
#[tokio::test]
async fn failed_store_of_the_budget_is_named() {
    let server = StandIn::start(vec![broken(), events(chat_answer("Done."))]).await;
    let budget = Budget::new(Failing::default(), "day").most_tokens(100_000);
    let world = World::of(ToolContext::builder().with(budget)).await;
    let mut model = model(&server);
    let error = world.drive(&mut model).await.unwrap_err();
    let failure = model.error().unwrap();
    assert_eq!(failure.kind, ModelErrorKind::BudgetUnavailable, "{failure}");
    for text in [error.to_string(), failure.to_string()] {
        assert!(
            text.contains("the store of the shared budget failed") && text.contains("no network"),
            "{text}"
        );
        assert!(!text.contains("less left"), "{text}");
    }
    assert_eq!(server.received().len(), 1);
}

// A request that was stopped keeps its reservation, because its usage is not known.
#[tokio::test]
async fn stopped_request_keeps_its_reservation() {
    let token = CancellationToken::new();
    let stopper = token.clone();
    let server = StandIn::start(vec![events(chat_answer("Done."))]).await;
    let store = MemoryStore::default();
    let budget = Budget::new(store.clone(), "day").most_tokens(100_000);
    let builder = ToolContext::builder().with(budget).cancellation(token);
    let world = World::of(builder).await;
    let mut model = model(&server).observe(move |event| {
        if let tool_agent::model::ModelEvent::Request { .. } = event {
            stopper.cancel();
        }
    });
    let outcome = world.drive(&mut model).await.unwrap();
    assert!(matches!(outcome, Outcome::Cancelled), "{outcome:?}");
    let row = row(&store).await;
    assert_eq!((row.unmeasured, row.reserved.tokens), (1, 0));
    assert!(row.spent.tokens > 9_000, "{row:?}");
}

// A budget for cost reserves the cost at the largest price of the chain, and is settled with the cost of the answer. Without a price, no request is sent.
#[tokio::test]
async fn cost_is_reserved_and_settled() {
    let price = ModelPrice::new(1_000_000, 2_000_000);
    let run = async |price: Option<ModelPrice>, most: u64| {
        let server = StandIn::start(vec![events(chat_answer("Done."))]).await;
        let store = MemoryStore::default();
        let budget = Budget::new(store.clone(), "day").most_cost(most);
        let world = World::of(ToolContext::builder().with(budget)).await;
        let model = chat(&server).field("max_tokens", Value::from(500));
        let mut model = match price {
            Some(price) => model.price(price).build(),
            None => model.build(),
        }
        .unwrap();
        (
            world.drive(&mut model).await,
            server.received().len(),
            store,
        )
    };
    let (outcome, requests, store) = run(Some(price), 1_500).await;
    assert!(matches!(outcome, Ok(Outcome::Answered(_))), "{outcome:?}");
    assert_eq!(
        (requests, row(&store).await.spent.cost_micros),
        (1, 9 + 3 * 2)
    );
    // 500 tokens of output cost 1,000.
    let (outcome, requests, _) = run(Some(price), 1_000).await;
    assert!(
        matches!(outcome, Ok(Outcome::SharedBudget(_))),
        "{outcome:?}"
    );
    assert_eq!(requests, 0);
    // All tokens of the input may be written to the cache, which is the most expensive part here.
    let cached = price.cache_write_5m(100_000_000);
    let (outcome, requests, _) = run(Some(cached), 1_500).await;
    assert!(
        matches!(outcome, Ok(Outcome::SharedBudget(_))),
        "{outcome:?}"
    );
    assert_eq!(requests, 0);
    let (outcome, requests, _) = run(None, 1_500).await;
    assert!(matches!(outcome, Err(TurnError::Unpriced)), "{outcome:?}");
    assert_eq!(requests, 0);
}

// Any model of a chain may answer, so the largest output of the chain is reserved.
#[tokio::test]
async fn largest_output_of_a_chain_is_reserved() {
    for (tokens, requests) in [(5_000, 0), (15_000, 1)] {
        let server = StandIn::start(vec![events(chat_answer("Done."))]).await;
        let (world, _) = world(tokens).await;
        let small = chat(&server).max_tokens(500).build().unwrap();
        let outcome = world.drive(&mut small.or(model(&server))).await.unwrap();
        let is_refused = matches!(outcome, Outcome::SharedBudget(_));
        assert_eq!(is_refused, requests == 0, "{outcome:?}");
        assert_eq!(server.received().len(), requests);
    }
}

// Any model of a chain may answer, so the largest cost of the chain is reserved, regardless of the order.
#[tokio::test]
async fn largest_cost_of_a_chain_is_reserved() {
    let (cheap, dear) = (ModelPrice::new(0, 1), ModelPrice::new(0, 2_000_000));
    for prices in [[cheap, dear], [dear, cheap]] {
        let server = StandIn::start(vec![events(chat_answer("Done."))]).await;
        let budget = Budget::new(MemoryStore::default(), "day").most_cost(900);
        let world = World::of(ToolContext::builder().with(budget)).await;
        let [first, second] = prices.map(|price| {
            let model = chat(&server).max_tokens(500).price(price);
            model.build().unwrap()
        });
        // 500 tokens of output at the larger price cost 1,000.
        let outcome = world.drive(&mut first.or(second)).await.unwrap();
        assert!(matches!(outcome, Outcome::SharedBudget(_)), "{outcome:?}");
        assert!(server.received().is_empty());
    }
}

// A budget without a limit is an error of the host, and the error names the budget.
#[tokio::test]
async fn budget_without_a_limit_is_refused() {
    let server = StandIn::start(vec![events(chat_answer("Done."))]).await;
    let budget = Budget::new(MemoryStore::default(), "day");
    let world = World::of(ToolContext::builder().with(budget)).await;
    let error = world.drive(&mut model(&server)).await.unwrap_err();
    assert!(
        error.to_string().contains("has no limit: set a limit"),
        "{error}"
    );
    assert!(server.received().is_empty());
}
