//! Small synchronization primitives that do not depend on tools.
//!
//! Each file names its locks and atomics through `imp`, so that `tests/loom` can compile the same files with loom's types and check
//! every interleaving.

#[cfg(feature = "host")]
mod backlog;
#[cfg(feature = "host")]
mod door;
#[cfg(feature = "host")]
mod start;
mod versioned;

#[cfg(feature = "host")]
pub(crate) use backlog::Backlog;
#[cfg(feature = "host")]
pub(crate) use door::Door;
#[cfg(feature = "host")]
pub(crate) use start::Start;
pub(crate) use versioned::{Edition, Versioned};

/// The locks and atomics that the primitives use.
mod imp {
    #[cfg(feature = "host")]
    pub(super) use std::sync::atomic::AtomicU8;
    pub(super) use std::sync::atomic::{AtomicU64, Ordering};
    #[cfg(feature = "host")]
    pub(super) use std::sync::{Mutex, MutexGuard};
    pub(super) use std::sync::{RwLock, RwLockWriteGuard};
}
