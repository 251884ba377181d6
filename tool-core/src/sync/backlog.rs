//! A bounded queue that is emptied at once, and takes back what could not be delivered.

use std::collections::VecDeque;
use std::sync::PoisonError;

use super::imp::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Things that wait, oldest first. While they cannot be delivered, the newest of them are kept, and what is dropped is counted.
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

    /// Adds one. Where nothing can be delivered and there is the most that is kept, the oldest one makes room for it. Gives how many wait now and
    /// how many were dropped.
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

    /// Everything that waits.
    pub(crate) fn take(&self) -> VecDeque<T> {
        std::mem::take(&mut *self.lock())
    }

    /// Puts back what was taken, before what came since. Where nothing could be delivered before either, no more are kept than were taken, or the
    /// most. Gives how many were dropped.
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

    /// How many were dropped so far.
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
            // Under the lock: whoever sees the queue shortened sees the count as well.
            self.dropped.fetch_add(excess as u64, Ordering::Relaxed);
        }
        excess as u64
    }
}
