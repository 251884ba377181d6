//! Who is inside, and a door that closes once.

use std::sync::PoisonError;

use slab::Slab;

use super::imp::{Mutex, MutexGuard};

/// What is inside, until it leaves. After [`close`](Door::close) nothing enters any more: whoever closes sees everybody who entered.
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

    /// Lets one in and says where it stands; `None` where the door is closed.
    pub(crate) fn enter(&self, who: impl FnOnce() -> T) -> Option<usize> {
        let mut room = self.lock();
        (!room.closed).then(|| room.inside.insert(who()))
    }

    /// Lets out who stands there. Whether it was the last.
    pub(crate) fn leave(&self, at: usize) -> bool {
        let mut room = self.lock();
        let gone = room.inside.remove(at);
        let last = room.inside.is_empty();
        drop(room);
        // What it drops is not ours, and may come back to this door.
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

    /// Calls back with everybody inside, and gives how often that said yes. Nobody enters or leaves meanwhile.
    pub(crate) fn count(&self, mut hit: impl FnMut(&T) -> bool) -> usize {
        let room = self.lock();
        room.inside.iter().filter(|(_, who)| hit(who)).count()
    }

    fn lock(&self) -> MutexGuard<'_, Room<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
