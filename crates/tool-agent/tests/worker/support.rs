//! Models whose replies are closures, and a host with a queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::Notify;
use tool_agent::agent::{Agent, AgentBuilder};
use tool_agent::runtime::{AgentEntry, AgentRuntime};
use tool_agent::worker::{AgentQueue, Worker, WorkerBuilder};
use tool_core::prelude::*;
use tool_core::store::{ChildStore, MemoryStore, Role, Store, ThreadId, WorkRow, WorkStore};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_core::{Approvals, Gate};

type Reply = BoxFuture<'static, Result<ModelMessage, ToolError>>;

/// A model that replies by the number of the request, counted from 0 across all runs.
#[derive(Clone)]
pub(crate) struct Replies {
    requests: Arc<AtomicUsize>,
    reply: Arc<dyn Fn(usize) -> Reply + Send + Sync>,
}

impl Replies {
    pub(crate) fn new<F>(reply: impl Fn(usize) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<ModelMessage, ToolError>> + Send + 'static,
    {
        Self {
            requests: Arc::default(),
            reply: Arc::new(move |number| Box::pin(reply(number))),
        }
    }

    /// Returns a model whose replies are all the same text.
    pub(crate) fn text(text: &'static str) -> Self {
        Self::new(move |_| async move { Ok(ModelMessage::text(text)) })
    }

    /// Returns the number of requests so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Model for Replies {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        (self.reply)(self.requests.fetch_add(1, Ordering::SeqCst))
    }
}

/// Blocks requests until the test lets them end, and counts the dropped requests.
#[derive(Clone, Default)]
pub(crate) struct Blocker {
    pub(crate) began: Arc<Notify>,
    pub(crate) go: Arc<Notify>,
    dropped: Arc<AtomicUsize>,
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Blocker {
    pub(crate) async fn wait(&self) {
        let dropped = Dropped(Arc::clone(&self.dropped));
        self.began.notify_one();
        self.go.notified().await;
        std::mem::forget(dropped);
    }

    pub(crate) fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }

    /// Returns a model whose requests block, and then reply with a text.
    pub(crate) fn model(&self, text: &'static str) -> Replies {
        let blocker = self.clone();
        Replies::new(move |_| {
            let blocker = blocker.clone();
            async move {
                blocker.wait().await;
                Ok(ModelMessage::text(text))
            }
        })
    }
}

/// A store, a gate and a queue of the agent `chief`.
pub(crate) struct Host {
    pub(crate) store: MemoryStore,
    pub(crate) gate: Gate,
    pub(crate) queue: AgentQueue,
}

pub(crate) const LEASE: Duration = Duration::from_millis(300);

impl Host {
    pub(crate) fn new() -> Self {
        let store = MemoryStore::default();
        let approvals = Approvals::builder(store.clone()).build().unwrap();
        let gate = Gate::builder().approvals(approvals).ledger(store.clone());
        let queue = AgentQueue::new(store.clone()).agent("chief", "1");
        Self {
            gate: gate.build(),
            queue,
            store,
        }
    }

    pub(crate) fn turns(&self) -> Turns {
        Turns::new(self.store.clone()).lease(LEASE)
    }

    /// Returns a runtime with the agent `chief`.
    pub(crate) fn runtime(&self, chief: AgentBuilder) -> AgentRuntime {
        let runtime = AgentRuntime::builder(self.turns(), &self.gate);
        let chief = AgentEntry::new(chief.build().unwrap());
        runtime
            .children(self.store.clone())
            .agent(chief)
            .build()
            .unwrap()
    }

    /// Returns a worker with the agent `chief`, which polls and retries often.
    pub(crate) fn worker(&self, model: &Replies) -> WorkerBuilder {
        self.worker_with(Agent::builder("chief", model.clone()))
    }

    pub(crate) fn worker_with(&self, chief: AgentBuilder) -> WorkerBuilder {
        let worker = Worker::builder(&self.runtime(chief), &self.queue);
        worker
            .lease(LEASE)
            .poll(Duration::from_millis(10))
            .retry(Duration::from_millis(5))
    }

    pub(crate) async fn submit(&self, conversation: &str) -> WorkRow {
        let cx = cx(conversation);
        self.queue.submit("chief", "Go.", &cx).await.unwrap()
    }

    pub(crate) async fn row(&self, conversation: &str) -> WorkRow {
        let row = self.store.work(&thread(conversation)).await;
        row.unwrap().unwrap()
    }

    /// Waits until the row of a conversation has a property.
    pub(crate) async fn until(
        &self,
        conversation: &str,
        holds: impl Fn(&WorkRow) -> bool,
    ) -> WorkRow {
        for _ in 0..1000 {
            let row = self.row(conversation).await;
            if holds(&row) {
                return row;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("the row did not change: {:?}", self.row(conversation).await)
    }

    /// Returns the number of messages of each role in a conversation: of users, of the model, and of tools.
    pub(crate) async fn counts(&self, conversation: &str) -> [usize; 3] {
        let messages = self.turns().messages(&cx(conversation), None).await;
        let messages = messages.unwrap();
        [Role::User, Role::Assistant, Role::Tool].map(|role| {
            messages
                .iter()
                .filter(|message| message.role == role)
                .count()
        })
    }
}

pub(crate) fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}

pub(crate) fn cx(conversation: &str) -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation(conversation)
        .build()
}

/// A store of a host with workers.
pub(crate) trait Place: Store + WorkStore + ChildStore + Clone {}
impl<T: Store + WorkStore + ChildStore + Clone> Place for T {}

/// Runs a test on each store.
macro_rules! on_each_store {
    ($($(#[$meta:meta])* $name:ident => $test:ident;)+) => {$(
        mod $name {
            use super::*;

            $(#[$meta])*
            #[tokio::test]
            async fn in_memory() {
                $test(MemoryStore::default()).await;
            }

            $(#[$meta])*
            #[tokio::test]
            async fn on_sqlite() {
                $test(SqliteStore::in_memory().await.unwrap()).await;
            }
        }
    )+};
}

pub(crate) use on_each_store;
