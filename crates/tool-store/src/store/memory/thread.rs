//! In-memory store of threads.

use std::collections::{BTreeMap, BTreeSet};

use super::{MemoryStore, count};
#[cfg(feature = "host")]
use crate::store::Journal;
use crate::store::{
    CallPlace, Message, NewMessage, Role, StoreError, StoreFuture, ThreadId, ThreadStore, Timestamp,
};

#[derive(Clone, Default)]
pub(super) struct Thread {
    pub(super) messages: Vec<Message>,
    /// The last sequence number that was assigned, which is kept when messages are removed.
    last: u64,
    /// Calls that already have their result.
    answered: BTreeSet<CallPlace>,
}

impl Thread {
    fn check(&self, message: &NewMessage) -> Result<(), StoreError> {
        if let Some(read) = message.follows
            && self.last_of(Role::Assistant) > read
        {
            return Err(message.overtaken());
        }
        match message.answers {
            Some(call) if self.answered.contains(&call) => Err(message.answered()),
            _ => Ok(()),
        }
    }

    fn append(&mut self, message: NewMessage) -> Result<u64, StoreError> {
        message.check()?;
        self.check(&message)?;
        self.answered.extend(message.answers);
        self.last += 1;
        self.messages.push(message.numbered(self.last));
        Ok(self.last)
    }

    /// Returns the sequence number of the last message of a role; 0 if there is none.
    fn last_of(&self, role: Role) -> u64 {
        let mut messages = self.messages.iter().rev();
        let last = messages.find(|message| message.role == role);
        last.map_or(0, |last| last.seq)
    }
}

#[derive(Default)]
pub(super) struct Threads(pub(super) BTreeMap<ThreadId, Thread>);

impl Threads {
    /// Fails if [`append`](Self::append) would fail, and changes nothing.
    pub(super) fn check(&self, message: &NewMessage) -> Result<(), StoreError> {
        message.check()?;
        match self.0.get(&message.thread) {
            Some(thread) => thread.check(message),
            None => Ok(()),
        }
    }

    pub(super) fn append(&mut self, message: NewMessage) -> Result<u64, StoreError> {
        // A refused message does not create its thread.
        self.check(&message)?;
        let thread = self.0.entry(message.thread.clone()).or_default();
        thread.append(message)
    }

    /// Appends messages to their thread, and returns the sequence number of the first one; 0 if there are none. If one of them is refused, none is
    /// stored.
    #[cfg(feature = "host")]
    pub(super) fn append_all(
        &mut self,
        thread: &ThreadId,
        messages: Vec<NewMessage>,
    ) -> Result<u64, StoreError> {
        if messages.is_empty() {
            return Ok(0);
        }
        let mut changed = self.0.get(thread).cloned().unwrap_or_default();
        let mut first = 0;
        for message in messages {
            let seq = changed.append(message)?;
            if first == 0 {
                first = seq;
            }
        }
        self.0.insert(thread.clone(), changed);
        Ok(first)
    }

    /// Returns the sequence number of the last message of a user in a thread; 0 if there is none.
    #[cfg(feature = "host")]
    pub(super) fn last_of_user(&self, thread: &ThreadId) -> u64 {
        let thread = self.0.get(thread);
        thread.map_or(0, |thread| thread.last_of(Role::User))
    }

    /// Returns the last sequence number that was assigned in a thread; 0 if there was none.
    #[cfg(feature = "host")]
    pub(super) fn last(&self, thread: &ThreadId) -> u64 {
        self.0.get(thread).map_or(0, |thread| thread.last)
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

    fn message_at(&self, thread: &ThreadId, role: Role, at: Timestamp) -> Option<u64> {
        let mut messages = self.0.get(thread)?.messages.iter();
        let found = messages.find(|message| message.role == role && message.at == at);
        Some(found?.seq)
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

    fn message_at<'a>(
        &'a self,
        thread: &'a ThreadId,
        role: Role,
        at: Timestamp,
    ) -> StoreFuture<'a, Option<u64>> {
        self.step(move |tables| Ok(tables.threads.message_at(thread, role, at)))
    }

    fn erase<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.threads.erase(thread)))
    }
}
