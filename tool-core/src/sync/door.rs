//! Set of running entries that can be closed to new ones.

use std::sync::PoisonError;

use slab::Slab;

use super::imp::{Mutex, MutexGuard};

/// A set of entries that [`leave`](Door::leave) removes. After [`close`](Door::close) no entry is added, so the caller of `close` sees every entry.
#[derive(Debug)]
pub(crate) struct Door<T>(Mutex<Room<T>>);

#[derive(Debug)]
struct Room<T> {
    inside: Slab<T>,
    closed: bool,
}

impl<T> Door<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Room {
            inside: Slab::new(),
            closed: false,
        }))
    }

    /// Adds an entry and returns its index; `None` if the set is closed.
    pub(crate) fn enter(&self, who: impl FnOnce() -> T) -> Option<usize> {
        let mut room = self.lock();
        (!room.closed).then(|| room.inside.insert(who()))
    }

    /// Removes the entry at an index. Returns whether it was the last one.
    pub(crate) fn leave(&self, at: usize) -> bool {
        let mut room = self.lock();
        let gone = room.inside.remove(at);
        let last = room.inside.is_empty();
        drop(room);
        // The destructor of an entry may use this set, so it runs without the lock.
        drop(gone);
        last
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.lock().closed
    }

    pub(crate) fn inside(&self) -> usize {
        self.lock().inside.len()
    }

    /// Calls `hit` with every entry and returns how many times it returned true. No entry is added or removed in the meantime.
    pub(crate) fn count(&self, mut hit: impl FnMut(&T) -> bool) -> usize {
        let room = self.lock();
        room.inside.iter().filter(|(_, who)| hit(who)).count()
    }

    fn lock(&self) -> MutexGuard<'_, Room<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
