//! A body begins or is left first, never both.

use super::imp::{AtomicU8, Ordering};

const OPEN: u8 = 0;
const BEGUN: u8 = 1;
const LEFT: u8 = 2;

/// Decides between who would begin a piece of work and who would give it up.
#[derive(Debug)]
pub(crate) struct Start(AtomicU8);

impl Start {
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(OPEN))
    }

    /// Whether the work may begin: it was neither left nor begun before.
    pub(crate) fn begin(&self) -> bool {
        self.becomes(BEGUN)
    }

    /// Gives the work up. Whether that was in time: it has not begun and never will.
    pub(crate) fn leave(&self) -> bool {
        self.becomes(LEFT)
    }

    fn becomes(&self, next: u8) -> bool {
        self.0
            .compare_exchange(OPEN, next, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}
