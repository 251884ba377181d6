//! A bounded queue that is emptied at once, and takes back what could not be delivered.

use std::collections::VecDeque;
use std::sync::PoisonError;

use super::imp::{AtomicU64, Mutex, MutexGuard, Ordering};

/// Things that wait, oldest first. Beyond the most that is kept, the oldest are dropped and counted.
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

    /// Adds one. Gives how many wait now and how many were dropped for it.
    pub(crate) fn push(&self, item: T) -> (usize, u64) {
        let mut waiting = self.lock();
        waiting.push_back(item);
        let dropped = self.trim(&mut waiting);
        (waiting.len(), dropped)
    }

    /// Everything that waits.
    pub(crate) fn take(&self) -> VecDeque<T> {
        std::mem::take(&mut *self.lock())
    }

    /// Puts back what was taken, before what came since. Gives how many were dropped for it.
    pub(crate) fn put_back(&self, taken: impl DoubleEndedIterator<Item = T>) -> u64 {
        let mut waiting = self.lock();
        for item in taken.rev() {
            waiting.push_front(item);
        }
        self.trim(&mut waiting)
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

    fn trim(&self, waiting: &mut VecDeque<T>) -> u64 {
        let excess = waiting.len().saturating_sub(self.most);
        waiting.drain(..excess);
        if excess > 0 {
            // Under the lock: whoever sees the queue shortened sees the count as well.
            self.dropped.fetch_add(excess as u64, Ordering::Relaxed);
        }
        excess as u64
    }
}
