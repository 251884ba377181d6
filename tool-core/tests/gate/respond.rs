//! Storing a message and beginning its run in one transaction whose response is lost.

use std::sync::Arc;

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{
    Batch, BatchStore, Batched, Journal, MemoryStore, Message, NewMessage, NewRun, Role, RunBegun,
    RunEnd, RunFilter, RunId, RunProgress, RunRow, RunStop, RunStore, Scope, StoreError,
    StoreFuture, ThreadId, ThreadStore, Timestamp,
};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, TurnError, Turns};

/// A database in which each transaction that begins a run fails, either before it writes or after the commit.
#[derive(Clone)]
struct Failing {
    store: MemoryStore,
    writes: bool,
    database: Arc<()>,
}

impl Failing {
    fn as_journal(&self) -> Journal {
        Journal::new(Arc::new(self.clone()), &self.database)
    }
}

impl BatchStore for Failing {
    fn write_batch(&self, batch: Batch) -> StoreFuture<'_, Batched> {
        Box::pin(async move {
            let begins = batch.begin.is_some();
            let journal = ThreadStore::journal(&self.store).unwrap();
            if !begins {
                return journal.write(batch).await;
            }
            if self.writes {
                journal.write(batch).await?;
            }
            Err(StoreError::Unavailable("the connection was lost".into()))
        })
    }
}

impl ThreadStore for Failing {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
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

impl RunStore for Failing {
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }
    fn begin_run(&self, run: NewRun) -> StoreFuture<'_, RunBegun> {
        self.store.begin_run(run)
    }
    fn renew_run<'a>(
        &'a self,
        id: &'a RunId,
        owner: &'a str,
        until: Timestamp,
        progress: RunProgress,
    ) -> StoreFuture<'a, Option<RunRow>> {
        self.store.renew_run(id, owner, until, progress)
    }
    fn end_run<'a>(&'a self, id: &'a RunId, owner: &'a str, end: RunEnd) -> StoreFuture<'a, bool> {
        self.store.end_run(id, owner, end)
    }
    fn stop_run<'a>(&'a self, id: &'a RunId, stop: RunStop) -> StoreFuture<'a, Option<RunRow>> {
        self.store.stop_run(id, stop)
    }
    fn get_run<'a>(&'a self, id: &'a RunId) -> StoreFuture<'a, Option<RunRow>> {
        self.store.get_run(id)
    }
    fn list_runs<'a>(
        &'a self,
        scope: Scope<'a>,
        filter: &'a RunFilter,
    ) -> StoreFuture<'a, Vec<RunRow>> {
        self.store.list_runs(scope, filter)
    }
    fn retain_runs<'a>(&'a self, scope: Scope<'a>, since: Timestamp) -> StoreFuture<'a, u64> {
        self.store.retain_runs(scope, since)
    }
}

struct Done;

impl Model for Done {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        Box::pin(std::future::ready(Ok(ModelMessage::text("done"))))
    }
}

// A message is not stored twice when the response of its transaction is lost; a message that was not stored is an error
#[tokio::test]
async fn lost_response_does_not_store_a_message_twice() {
    for writes in [true, false] {
        let store = Failing {
            store: MemoryStore::default(),
            writes,
            database: Arc::new(()),
        };
        let turns = Turns::new(store.clone());
        let cx = ToolContext::builder()
            .workspace("acme")
            .conversation("t")
            .build();
        let outcome = turns
            .respond("Hello.", &mut Done, |_| tool_core::toolset![], &cx)
            .await;
        let thread = ThreadId::new("acme", "t").unwrap();
        let messages = ThreadStore::read(&store, &thread, None).await.unwrap();
        let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
        let runs = store
            .list_runs(Scope::All, &RunFilter::default())
            .await
            .unwrap();
        if writes {
            assert!(
                matches!(&outcome, Ok(Outcome::Answered(text)) if text == "done"),
                "{outcome:?}"
            );
            assert_eq!(roles, [Role::User, Role::Assistant]);
            assert_eq!(runs.len(), 1);
        } else {
            assert!(matches!(outcome, Err(TurnError::Store(_))), "{outcome:?}");
            assert!(roles.is_empty() && runs.is_empty());
        }
    }
}
