//! Queue of items to deliver: a reader takes all items together, and puts back items that could not be delivered. The queue is bounded while nothing
//! can be delivered.

use std::collections::VecDeque;
use std::sync::PoisonError;

use super::imp::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Waiting items, oldest first. If items cannot be delivered and the queue is full, the oldest items are dropped and counted.
#[derive(Debug)]
pub(crate) struct Backlog<T> {
    waiting: Mutex<VecDeque<T>>,
    dropped: AtomicU64,
    most: usize,
}

impl<T> Backlog<T> {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            waiting: Mutex::new(VecDeque::new()),
            dropped: AtomicU64::new(0),
            most,
        }
    }

    /// Adds an item. If nothing can be delivered and the queue is full, the oldest item is dropped. Returns how many items wait and how many
    /// were dropped.
    pub(crate) fn push(&self, item: T, delivers: bool) -> (usize, u64) {
        let mut waiting = self.lock();
        let keep = if delivers {
            usize::MAX
        } else {
            self.most.max(waiting.len())
        };
        waiting.push_back(item);
        let dropped = self.trim(&mut waiting, keep);
        (waiting.len(), dropped)
    }

    /// Removes and returns all waiting items.
    pub(crate) fn take(&self) -> VecDeque<T> {
        std::mem::take(&mut *self.lock())
    }

    /// Puts taken items back, before the items that were added since. If `delivered` is false, because the previous write failed as well, the queue
    /// keeps at most `most` items, or the number of taken items if that number is greater. Returns how many items were dropped.
    pub(crate) fn put_back(
        &self,
        taken: impl DoubleEndedIterator<Item = T> + ExactSizeIterator,
        delivered: bool,
    ) -> u64 {
        let keep = if delivered {
            usize::MAX
        } else {
            self.most.max(taken.len())
        };
        let mut waiting = self.lock();
        for item in taken.rev() {
            waiting.push_front(item);
        }
        self.trim(&mut waiting, keep)
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().len()
    }

    /// Returns how many items were dropped so far.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trim(&self, waiting: &mut VecDeque<T>, keep: usize) -> u64 {
        let excess = waiting.len().saturating_sub(keep);
        waiting.drain(..excess);
        if excess > 0 {
            // The count changes under the lock, so that a thread that sees the shortened queue also sees the count.
            self.dropped.fetch_add(excess as u64, Ordering::Relaxed);
        }
        excess as u64
    }
}
