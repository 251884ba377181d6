//! A value that is replaced while other threads read it, with an edition number.

use std::ops::Deref;
use std::sync::{Arc, PoisonError};

use super::imp::{AtomicU64, Ordering, RwLock, RwLockWriteGuard};

/// A value and the number of its edition.
#[derive(Debug)]
pub(crate) struct Edition<T> {
    pub(crate) number: u64,
    value: T,
}

impl<T> Deref for Edition<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

/// The current edition of a value. A reader clones an edition, and checks without a lock whether it is still the latest one.
#[derive(Debug)]
pub(crate) struct Versioned<T> {
    edition: RwLock<Arc<Edition<T>>>,
    latest: AtomicU64,
}

impl<T> Versioned<T> {
    pub(crate) fn new(value: T) -> Self {
        Self {
            edition: RwLock::new(Arc::new(Edition { number: 0, value })),
            latest: AtomicU64::new(0),
        }
    }

    pub(crate) fn read(&self) -> Arc<Edition<T>> {
        let edition = self.edition.read();
        Arc::clone(&edition.unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns whether an edition of this value is the latest one. A change that completed before the call is always visible.
    pub(crate) fn is_latest(&self, edition: &Edition<T>) -> bool {
        self.latest.load(Ordering::Acquire) == edition.number
    }

    /// Returns the number of the latest edition. It increases with each change.
    pub(crate) fn number(&self) -> u64 {
        self.latest.load(Ordering::Acquire)
    }

    /// Blocks [`read`](Self::read) and other writers until the guard is dropped.
    pub(crate) fn write(&self) -> Writing<'_, T> {
        Writing {
            edition: self.edition.write().unwrap_or_else(PoisonError::into_inner),
            latest: &self.latest,
        }
    }
}

/// Write access to the current edition.
pub(crate) struct Writing<'a, T> {
    edition: RwLockWriteGuard<'a, Arc<Edition<T>>>,
    latest: &'a AtomicU64,
}

impl<T> Writing<'_, T> {
    pub(crate) fn put(&mut self, value: T) {
        let number = self.edition.number + 1;
        *self.edition = Arc::new(Edition { number, value });
        self.latest.store(number, Ordering::Release);
    }
}

impl<T> Deref for Writing<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.edition.value
    }
}

impl<T: Default> Default for Versioned<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}
