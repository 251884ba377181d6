//! In-memory events of threads.

use std::collections::BTreeMap;

use super::{MemoryStore, Tables, count, limited};
use crate::store::{
    NewThreadEvents, StoreError, StoreFuture, ThreadEvent, ThreadEventStore, ThreadId,
};

#[derive(Default)]
struct Thread {
    events: Vec<ThreadEvent>,
    /// The last sequence number that was assigned, which is kept when events are removed.
    last: u64,
}

#[derive(Default)]
pub(super) struct ThreadEvents(BTreeMap<ThreadId, Thread>);

impl ThreadEvents {
    pub(super) fn erase(&mut self, thread: &ThreadId) -> u64 {
        let Some(thread) = self.0.get_mut(thread) else {
            return 0;
        };
        count(std::mem::take(&mut thread.events).len())
    }
}

impl Tables {
    fn append_events(&mut self, new: NewThreadEvents) -> Result<u64, StoreError> {
        new.check()?;
        if let Some(fence) = &new.fence {
            fence.check(self.runs.last_of(fence.id.thread()))?;
        }
        let message = self.threads.last(&new.thread);
        let stored = self.thread_events.0.entry(new.thread.clone()).or_default();
        if new.ends_step {
            stored.events.retain(|event| !event.transient);
        }
        for event in new.events {
            stored.last += 1;
            let event = event.numbered(&new.thread, stored.last, message);
            stored.events.push(event);
        }
        Ok(stored.last)
    }
}

impl ThreadEventStore for MemoryStore {
    fn append_events(&self, events: NewThreadEvents) -> StoreFuture<'_, u64> {
        self.step(|tables| tables.append_events(events))
    }

    fn thread_events<'a>(
        &'a self,
        thread: &'a ThreadId,
        after: u64,
        limit: u32,
    ) -> StoreFuture<'a, Vec<ThreadEvent>> {
        self.step(move |tables| {
            let Some(thread) = tables.thread_events.0.get(thread) else {
                return Ok(Vec::new());
            };
            let first = thread.events.partition_point(|event| event.seq <= after);
            let events = thread.events[first..].iter();
            Ok(events.take(limited(Some(limit))).cloned().collect())
        })
    }

    fn erase_events<'a>(&'a self, thread: &'a ThreadId) -> StoreFuture<'a, u64> {
        self.step(move |tables| Ok(tables.thread_events.erase(thread)))
    }
}
