//! In-memory store of threads.

use std::collections::{BTreeMap, BTreeSet};

use super::{MemoryStore, count};
#[cfg(feature = "host")]
use crate::store::Journal;
use crate::store::{
    CallPlace, Message, NewMessage, Role, StoreError, StoreFuture, ThreadId, ThreadStore,
};

#[derive(Default)]
pub(super) struct Thread {
    pub(super) messages: Vec<Message>,
    /// The last sequence number that was assigned, which is kept when messages are removed.
    last: u64,
    /// Calls that already have their result.
    answered: BTreeSet<CallPlace>,
}

#[derive(Default)]
pub(super) struct Threads(pub(super) BTreeMap<ThreadId, Thread>);

impl Threads {
    /// Fails if [`append`](Self::append) would fail, and changes nothing.
    pub(super) fn check(&self, message: &NewMessage) -> Result<(), StoreError> {
        message.check()?;
        let Some(thread) = self.0.get(&message.thread) else {
            return Ok(());
        };
        if let Some(read) = message.follows {
            let mut said = thread.messages.iter().rev();
            let said = said.find(|message| message.role == Role::Assistant);
            if said.is_some_and(|said| said.seq > read) {
                return Err(message.overtaken());
            }
        }
        match message.answers {
            Some(call) if thread.answered.contains(&call) => Err(message.answered()),
            _ => Ok(()),
        }
    }

    pub(super) fn append(&mut self, message: NewMessage) -> Result<u64, StoreError> {
        self.check(&message)?;
        let thread = self.0.entry(message.thread.clone()).or_default();
        thread.answered.extend(message.answers);
        thread.last += 1;
        thread.messages.push(message.numbered(thread.last));
        Ok(thread.last)
    }

    fn read(&self, thread: &ThreadId, after: Option<u64>) -> Vec<Message> {
        let Some(thread) = self.0.get(thread) else {
            return Vec::new();
        };
        let after = after.unwrap_or(0);
        let first = thread
            .messages
            .partition_point(|message| message.seq <= after);
        thread.messages[first..].to_vec()
    }

    pub(super) fn erase(&mut self, thread: &ThreadId) -> u64 {
        let Some(thread) = self.0.get_mut(thread) else {
            return 0;
        };
        thread.answered.clear();
        let removed = std::mem::take(&mut thread.messages);
        count(removed.len())
    }
}

impl ThreadStore for MemoryStore {
    #[cfg(feature = "host")]
    fn journal(&self) -> Option<Journal> {
        Some(self.as_journal())
    }

    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        self.step(|tables| tables.threads.append(message))
    }

    fn read<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: Option<u64>,
    ) -> StoreFuture<'a, Vec<Message>> {
        self.step(move |tables| Ok(tables.threads.read(thread, after)))
    }

    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.threads.erase(thread)))
    }
}
