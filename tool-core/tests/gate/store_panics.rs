//! Panics in the stores that a turn uses.

use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;
use tool_core::Gate;
use tool_core::bounded::{Bounded, Spills};
use tool_core::prelude::*;
use tool_core::store::{
    EffectLedger, EffectState, MemoryStore, Message, NewMessage, RunCause, RunFilter, Scope, Spill,
    SpillPart, SpillStore, StoreError, StoreFuture, ThreadId, ThreadStore, Timestamp, Workspace,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, TurnError, Turns};

/// A thread store that panics while a flag is set.
#[derive(Clone, Default)]
struct Panics {
    store: MemoryStore,
    on_append: Arc<AtomicBool>,
    on_read: Arc<AtomicBool>,
}

fn fault(flag: &AtomicBool) {
    if flag.load(Ordering::SeqCst) {
        std::panic::resume_unwind(Box::new("a store with a fault"));
    }
}

impl ThreadStore for Panics {
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        Box::pin(async move {
            fault(&self.on_append);
            self.store.append(message).await
        })
    }
    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        fault(&self.on_read);
        ThreadStore::read(&self.store, thread, after)
    }
    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        ThreadStore::erase(&self.store, thread)
    }
}

struct Says;

impl Model for Says {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(ready(Ok(ModelMessage::text("hello"))))
    }
}

fn cx() -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("main")
        .build()
}

// A panic of a thread store is an error of the turn, and the next drive continues
#[tokio::test]
async fn panic_of_a_thread_store_is_an_error() {
    let panics = Panics::default();
    let turns = Turns::shared(Arc::new(panics.clone()), Arc::new(panics.store.clone()));
    let (cx, tools) = (cx(), toolset![]);
    let unavailable = |error: &TurnError| matches!(error, TurnError::Store(StoreError::Unavailable(why)) if why.to_string().contains("panicked"));
    panics.on_append.store(true, Ordering::SeqCst);
    assert!(
        turns
            .say("Hello.", &cx)
            .await
            .is_err_and(|error| unavailable(&error))
    );
    panics.on_append.store(false, Ordering::SeqCst);
    turns.say("Hello.", &cx).await.unwrap();

    panics.on_append.store(true, Ordering::SeqCst);
    let failed = turns.drive(&mut Says, |_| tools.clone(), &cx).await;
    assert!(failed.is_err_and(|error| unavailable(&error)));
    let filter = RunFilter::default();
    let runs = turns.runs(Scope::All, &filter).await.unwrap();
    assert_eq!(runs[0].cause, Some(RunCause::Failed));
    panics.on_append.store(false, Ordering::SeqCst);

    panics.on_read.store(true, Ordering::SeqCst);
    let failed = turns.drive(&mut Says, |_| tools.clone(), &cx).await;
    assert!(failed.is_err_and(|error| unavailable(&error)));
    panics.on_read.store(false, Ordering::SeqCst);

    let outcome = turns
        .drive(&mut Says, |_| tools.clone(), &cx)
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Answered(text) if text == "hello"));
}

/// A spill store whose `put` panics.
struct Full;

impl SpillStore for Full {
    fn put(&self, _: Spill) -> StoreFuture<'_, ()> {
        std::panic::resume_unwind(Box::new("a store with a fault"))
    }
    fn read<'a>(
        &'a self,
        _: &'a Workspace,
        _: &'a str,
        _: &'a str,
        _: u64,
        _: u64,
        _: Timestamp,
    ) -> StoreFuture<'a, Option<SpillPart>> {
        Box::pin(ready(Ok(None)))
    }
    fn expire<'a>(&'a self, _: Scope<'a>, _: Timestamp) -> StoreFuture<'a, u64> {
        Box::pin(ready(Ok(0)))
    }
}

#[derive(Clone)]
struct Printer;
tool_core::host_value!(Printer, tool_core::Effect::WRITE);

/// Prints a long text.
#[tool]
async fn print(_printer: &Printer) -> Bounded<String, 100> {
    "a line\n".repeat(100).into()
}

// An effect whose output cannot be stored because the spill store panics has succeeded
#[tokio::test]
async fn panicking_spill_store_does_not_lose_the_effect() {
    let store = MemoryStore::default();
    let gate = Gate::builder().ledger(store.clone()).build();
    let tools = toolset![print].through(&gate);
    let cx = ToolContext::builder()
        .workspace("acme")
        .with(Printer)
        .with(Spills::new(Full))
        .build();
    let result = tools.call(ToolCall::new("c", "print", "{}"), &cx).await;
    assert!(
        result.model_text().contains("the rest is not stored"),
        "{result:?}"
    );
    let rows = EffectLedger::list(&store, Scope::All, Some(EffectState::Succeeded)).await;
    assert_eq!(rows.unwrap().len(), 1);
}
