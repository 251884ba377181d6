//! Threads in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{MemoryStore, count};
use crate::store::{Message, NewMessage, Role, StoreError, StoreFuture, ThreadStore};

#[derive(Default)]
struct Thread {
    messages: Vec<Message>,
    /// Turn and call of every tool's message.
    answered: BTreeSet<(String, String)>,
}

#[derive(Default)]
pub(super) struct Threads(BTreeMap<String, Thread>);

impl Threads {
    fn append(&mut self, message: NewMessage) -> Result<u64, StoreError> {
        message.check()?;
        let thread = self.0.get(&message.thread);
        let call = message.call.as_ref().filter(|_| message.role == Role::Tool);
        let answer = call.map(|call| (message.turn.clone(), call.clone()));
        if let (Some(thread), Some(answer)) = (thread, &answer)
            && thread.answered.contains(answer)
        {
            return Err(message.answered());
        }
        let thread = self.0.entry(message.thread.clone()).or_default();
        let seq = count(thread.messages.len()) + 1;
        thread.answered.extend(answer);
        thread.messages.push(message.at_place(seq));
        Ok(seq)
    }

    fn read(&self, thread: &str, after: Option<u64>) -> Vec<Message> {
        let skipped = usize::try_from(after.unwrap_or(0)).unwrap_or(usize::MAX);
        let messages = self.0.get(thread).map(|thread| &thread.messages);
        messages
            .into_iter()
            .flatten()
            .skip(skipped)
            .cloned()
            .collect()
    }
}

impl ThreadStore for MemoryStore {
    fn append(&self, message: NewMessage) -> StoreFuture<'_, u64> {
        self.step(|tables| tables.threads.append(message))
    }

    fn read<'a>(&'a self, thread: &'a str, after: Option<u64>) -> StoreFuture<'a, Vec<Message>> {
        self.step(move |tables| Ok(tables.threads.read(thread, after)))
    }

    fn erase<'a>(&'a self, thread: &'a str) -> StoreFuture<'a, u64> {
        self.step(move |tables| {
            let removed = tables.threads.0.remove(thread);
            Ok(removed.map_or(0, |thread| count(thread.messages.len())))
        })
    }
}
