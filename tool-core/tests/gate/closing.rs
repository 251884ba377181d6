//! Writing the end of a call: in one batch if the stores share a database, otherwise in single writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::Semaphore;
use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditRow, AuditSink, Batch, BatchStore, Batched, EffectLedger, EffectState,
    Journal, MemoryStore, Message, NewMessage, Role, Scope, StoreError, StoreFuture, ThreadId,
    ThreadStore, Timestamp, Workspace,
};
use tool_core::turn::{ModelMessage, ToolMessage, Turn, TurnError, Turns};
use tool_core::{Audit, Gate, Sweeper};

use crate::support::{Host, count, thread};

/// Audit and threads of one database, without a ledger. Counts batches and single writes.
#[derive(Clone)]
struct Counting {
    store: MemoryStore,
    counts: Arc<[AtomicUsize; 2]>,
    fails: bool,
    /// Each batch takes a permit of this semaphore.
    batches: Arc<Semaphore>,
    /// Whether storing the messages of tools fails.
    loses_results: bool,
}

impl Counting {
    fn new(fails: bool) -> Self {
        Self {
            store: MemoryStore::default(),
            counts: Arc::default(),
            fails,
            batches: Arc::new(Semaphore::new(100)),
            loses_results: false,
        }
    }

    fn count(&self, at: usize) {
        self.counts[at].fetch_add(1, Ordering::SeqCst);
    }

    /// Returns the number of batches and the number of single writes.
    fn counts(&self) -> [usize; 2] {
        [0, 1].map(|at| self.counts[at].load(Ordering::SeqCst))
    }

    fn as_journal(&self) -> Journal {
        Journal::new(Arc::new(self.clone()), &self.counts)
    }
}

impl BatchStore for Counting {
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched> {
        self.count(0);
        assert!(!self.fails, "the batch panics");
        let journal = AuditSink::journal(&self.store).unwrap();
        Box::pin(async move {
            self.batches.acquire().await.unwrap().forget();
            journal.write(batch).await
        })
    }
}

impl AuditSink for Counting {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }
    fn write(&self, rows: Vec<AuditRow>) -> StoreFuture<'_, ()> {
        self.count(1);
        self.store.write(rows)
    }
    fn export<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a AuditFilter,
    ) -> StoreFuture<'a, Vec<AuditRow>> {
        self.store.export(scope, filter)
    }
    fn erase<'a>(&'a self, own: &'a Workspace, principal: &'a str) -> StoreFuture<'a, u64> {
        AuditSink::erase(&self.store, own, principal)
    }
    fn retain<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        self.store.retain(scope, since)
    }
}

impl ThreadStore for Counting {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        self.count(1);
        if self.loses_results && message.role == Role::Tool {
            let lost = StoreError::Unavailable("the disk is full".into());
            return Box::pin(std::future::ready(Err(lost)));
        }
        self.store.append(message)
    }
    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        ThreadStore::read(&self.store, thread, after)
    }
    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        ThreadStore::erase(&self.store, thread)
    }
}

/// Returns a message with three calls. The second call has invalid arguments.
fn calls() -> ModelMessage {
    ModelMessage::calls([
        ToolCall::new("c", "count", r#"{"from":7}"#),
        ToolCall::new("c", "count", "{}"),
        ToolCall::new("c", "count", r#"{"from":9}"#),
    ])
}

fn cx(conversation: &str) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation(conversation)
        .build()
}

async fn results(
    turns: &Turns,
    tools: &Toolset,
    message: ModelMessage,
    cx: &ToolContext,
) -> Vec<ToolMessage> {
    let message = turns.record(message, cx).await.unwrap();
    match turns.run(tools, &message, cx).await.unwrap() {
        Turn::Complete(results) => results,
        turn => panic!("{turn:?}"),
    }
}

/// Returns the texts of the stored results of a conversation.
async fn stored(store: &impl ThreadStore, conversation: &str) -> Vec<String> {
    let messages = ThreadStore::read(store, &thread(conversation), None).await;
    let results = messages.unwrap().into_iter();
    let results = results.filter(|message| message.role == Role::Tool);
    results
        .map(|message| serde_json::from_str::<ToolMessage>(&message.content).unwrap())
        .map(|message| message.text)
        .collect()
}

async fn outcomes(store: &MemoryStore) -> Vec<Option<String>> {
    let rows = store.export(Scope::All, &AuditFilter::default()).await;
    let mut outcomes: Vec<_> = rows.unwrap().into_iter().map(|row| row.outcome).collect();
    outcomes.sort();
    outcomes
}

// The audit row and the result in the thread are written in one batch, in two concurrent conversations with parallel calls
#[tokio::test]
async fn end_of_a_call_is_written_in_one_batch() {
    let store = Counting::new(false);
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let tools = toolset![count].through(&gate);
    let turns =
        Turns::shared(Arc::new(store.clone()), Arc::new(MemoryStore::default())).parallel(3);
    let (main, side) = (cx("main"), cx("side"));
    let both = futures::join!(
        results(&turns, &tools, calls(), &main),
        results(&turns, &tools, calls(), &side),
    );
    for (results, conversation) in [(both.0, "main"), (both.1, "side")] {
        let texts: Vec<_> = results.into_iter().map(|result| result.text).collect();
        assert_eq!((&*texts[0], &*texts[2]), ("7", "9"));
        let mut stored = stored(&store, conversation).await;
        stored.sort_by_key(|text| texts.iter().position(|other| other == text));
        assert_eq!(stored, texts);
    }
    let ok = || Some("ok".to_owned());
    let invalid = || Some("invalid_arguments".to_owned());
    let expected = [invalid(), invalid(), ok(), ok(), ok(), ok()];
    assert_eq!(outcomes(&store.store).await, expected);
    // Each conversation makes these single writes: the message, a row before each of two bodies, and the refused call's row and result.
    assert_eq!(store.counts(), [4, 10]);
}

// A batch that fails is replaced by single writes
#[tokio::test]
async fn batch_that_fails_is_written_one_by_one() {
    let store = Counting::new(true);
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let tools = toolset![count].through(&gate);
    let turns = Turns::shared(Arc::new(store.clone()), Arc::new(MemoryStore::default()));
    let results = results(&turns, &tools, calls(), &cx("main")).await;
    assert_eq!(results.len(), 3);
    let texts: Vec<_> = results.into_iter().map(|result| result.text).collect();
    assert_eq!(stored(&store, "main").await, texts);
    assert!(outcomes(&store.store).await.iter().all(Option::is_some));
    assert_eq!(store.counts(), [2, 9]);
}

// Stores in two databases get single writes
#[tokio::test]
async fn stores_of_two_databases_are_written_one_by_one() {
    let host = Host::new();
    let threads = MemoryStore::default();
    let turns = Turns::new(threads.clone());
    let cx = host.ann();
    let mail = ModelMessage::calls([ToolCall::new("c", "count", r#"{"from":7}"#)]);
    let results = results(&turns, &host.tools, mail, &cx).await;
    assert_eq!(results[0].text, "7");
    assert_eq!(stored(&threads, "th-1").await, ["7"]);
    assert_eq!(stored(&host.store, "th-1").await, [""; 0]);
    assert_eq!(outcomes(&host.store).await, [Some("ok".to_owned())]);
}

/// Writes an entry and returns a text.
#[tool]
async fn write(log: &Log) -> &'static str {
    log.0.fetch_add(1, Ordering::SeqCst);
    "written"
}

#[derive(Clone, Default)]
struct Log(Arc<AtomicUsize>);
tool_core::host_value!(Log, tool_core::Effect::WRITE);

/// A layer that delays results.
#[derive(Clone)]
struct Slowly;

#[derive(Clone)]
struct Slow<S>(S);

impl<S> tower::Layer<S> for Slowly {
    type Service = Slow<S>;
    fn layer(&self, inner: S) -> Slow<S> {
        Slow(inner)
    }
}

impl<S> tower::Service<tool_core::Permitted> for Slow<S>
where
    S: tower::Service<tool_core::Permitted, Response = tool_core::Ran, Error = tower::BoxError>,
    S::Future: Send + 'static,
{
    type Response = tool_core::Ran;
    type Error = tower::BoxError;
    type Future = futures::future::BoxFuture<'static, Result<tool_core::Ran, tower::BoxError>>;

    fn poll_ready(
        &mut self,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), tower::BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, permitted: tool_core::Permitted) -> Self::Future {
        let run = self.0.call(permitted);
        Box::pin(async move {
            let ran = run.await;
            tokio::time::sleep(Duration::from_millis(200)).await;
            ran
        })
    }
}

// The result of a call that took effect is stored even if its caller is dropped, and the next run does not repeat the effect
#[tokio::test(start_paused = true)]
async fn result_is_stored_after_its_caller_disconnects() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .sweeper(Sweeper::off())
        .layer(Slowly)
        .build();
    let tools = toolset![write].through(&gate);
    let turns = Turns::new(store.clone());
    let log = Log::default();
    let cx = ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
        .with(log.clone())
        .build();
    let message = ModelMessage::calls([ToolCall::new("c", "write", "{}")]);
    let message = turns.record(message, &cx).await.unwrap();
    let run = turns.run(&tools, &message, &cx);
    assert!(
        tokio::time::timeout(Duration::from_millis(100), run)
            .await
            .is_err()
    );
    assert_eq!(stored(&store, "th-1").await, [""; 0]);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(stored(&store, "th-1").await, ["written"]);
    let effects = EffectLedger::list(&store, Scope::All, Some(EffectState::Succeeded)).await;
    assert_eq!(effects.unwrap().len(), 1);
    let again = turns.run(&tools, &message, &cx).await.unwrap();
    assert!(
        matches!(&again, Turn::Complete(results) if results[0].text == "written"),
        "{again:?}"
    );
    assert_eq!(log.0.load(Ordering::SeqCst), 1);
}

/// A read and an effect behind a required audit, and the turn that makes them.
struct Pair {
    store: Counting,
    log: Log,
    turns: Turns,
    tools: Toolset,
    cx: ToolContext,
}

impl Pair {
    fn new(store: Counting) -> Self {
        let gate = Gate::builder()
            .audit(Audit::required(store.clone()))
            .build();
        let log = Log::default();
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation("main")
            .with(log.clone())
            .build();
        Self {
            turns: Turns::shared(Arc::new(store.clone()), Arc::new(MemoryStore::default())),
            tools: toolset![count, write].through(&gate),
            store,
            log,
            cx,
        }
    }

    async fn run(&self) -> Result<Turn, TurnError> {
        let message = ModelMessage::calls([
            ToolCall::new("c", "count", r#"{"from":7}"#),
            ToolCall::new("c", "write", "{}"),
        ]);
        let message = self.turns.record(message, &self.cx).await?;
        self.turns.run(&self.tools, &message, &self.cx).await
    }

    /// Returns whether the audit row of the second call is written.
    async fn both_are_begun(&self) -> bool {
        outcomes(&self.store.store).await.len() == 2
    }
}

// The end of a read is written while the next call is recorded, and the next body waits for this write
#[tokio::test]
async fn body_waits_for_the_end_of_the_read_before_it() {
    let mut store = Counting::new(false);
    store.batches = Arc::new(Semaphore::new(0));
    let pair = Pair::new(store);
    let mut run = Box::pin(pair.run());
    while !pair.both_are_begun().await {
        assert!(futures::poll!(&mut run).is_pending());
        tokio::task::yield_now().await;
    }
    for _ in 0..100 {
        assert!(futures::poll!(&mut run).is_pending());
        tokio::task::yield_now().await;
    }
    assert_eq!(pair.log.0.load(Ordering::SeqCst), 0);
    assert_eq!(outcomes(&pair.store.store).await, [None, None]);
    pair.store.batches.add_permits(2);
    let turn = run.await.unwrap();
    assert!(
        matches!(&turn, Turn::Complete(results) if results.len() == 2),
        "{turn:?}"
    );
    assert_eq!(stored(&pair.store, "main").await, ["7", "written"]);
    let ok = Some("ok".to_owned());
    assert_eq!(outcomes(&pair.store.store).await, [ok.clone(), ok]);
}

// The end of a read is written although its turn is dropped, and the call after it does not run
#[tokio::test]
async fn end_of_a_read_is_written_after_its_turn_is_dropped() {
    let mut store = Counting::new(false);
    store.batches = Arc::new(Semaphore::new(0));
    let pair = Pair::new(store);
    let mut run = Box::pin(pair.run());
    while !pair.both_are_begun().await {
        assert!(futures::poll!(&mut run).is_pending());
        tokio::task::yield_now().await;
    }
    drop(run);
    pair.store.batches.add_permits(100);
    while outcomes(&pair.store.store).await.contains(&None) {
        tokio::task::yield_now().await;
    }
    assert_eq!(stored(&pair.store, "main").await, ["7"]);
    assert_eq!(pair.log.0.load(Ordering::SeqCst), 0);
}

// If the result of a read cannot be stored, the next body does not run
#[tokio::test]
async fn body_does_not_run_if_the_earlier_result_is_not_stored() {
    let mut store = Counting::new(true);
    store.loses_results = true;
    let pair = Pair::new(store);
    let error = pair.run().await.unwrap_err();
    assert!(matches!(error, TurnError::Store(_)), "{error}");
    assert_eq!(pair.log.0.load(Ordering::SeqCst), 0);
    assert_eq!(stored(&pair.store, "main").await, [""; 0]);
}
