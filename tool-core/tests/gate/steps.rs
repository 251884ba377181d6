//! The number of messages that a run reads from its thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{MemoryStore, Message, NewMessage, StoreFuture, ThreadId, ThreadStore};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Outcome, Turns};

use crate::support::{count, thread};

/// Counts the messages that are read from threads.
#[derive(Clone, Default)]
struct Counting {
    store: MemoryStore,
    read: Arc<AtomicUsize>,
}

impl ThreadStore for Counting {
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        self.store.append(message)
    }
    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        Box::pin(async move {
            let messages = ThreadStore::read(&self.store, thread, after).await?;
            self.read.fetch_add(messages.len(), Ordering::SeqCst);
            Ok(messages)
        })
    }
    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        ThreadStore::erase(&self.store, thread)
    }
}

/// A model that calls a tool in each of the given number of steps, and then writes its last message.
struct Calls(usize);

impl Model for Calls {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let message = match self.0.checked_sub(1) {
            Some(left) => {
                self.0 = left;
                ModelMessage::calls([ToolCall::new("c", "count", r#"{"from":7}"#)])
            }
            None => ModelMessage::text("done"),
        };
        Box::pin(std::future::ready(Ok(message)))
    }
}

// A run reads its thread only once, also while it appends messages, in two concurrent conversations of different lengths.
#[tokio::test]
async fn a_run_reads_its_thread_once() {
    const STEPS: usize = 8;
    let store = Counting::default();
    let turns = Turns::shared(Arc::new(store.clone()), Arc::new(MemoryStore::default()));
    let say = async |conversation: &str| {
        let cx = ToolContext::builder()
            .workspace("acme")
            .user("ann")
            .conversation(conversation)
            .build();
        let outcome = turns
            .respond("Go on.", &mut Calls(STEPS), |_| toolset![count], &cx)
            .await;
        assert!(
            matches!(&outcome, Ok(Outcome::Answered(text)) if text == "done"),
            "{outcome:?}"
        );
    };
    let length = async |conversation: &str| {
        let messages = ThreadStore::read(&store.store, &thread(conversation), None).await;
        messages.unwrap().len()
    };
    say("long").await;
    say("long").await;
    // Each run adds the user's message, a call and its result for each step, and the last message of the model.
    let run = 2 * STEPS + 2;
    assert_eq!(length("long").await, 2 * run);

    store.read.store(0, Ordering::SeqCst);
    futures::join!(say("long"), say("short"));
    let read = store.read.load(Ordering::SeqCst);
    assert_eq!(
        (length("long").await, length("short").await),
        (3 * run, run)
    );
    // Each message is read once, including the message of the user; messages that the run itself appends are not read.
    assert!(read <= 2 * run + 2, "{read} messages were read");
}
