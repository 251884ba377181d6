//! Race between starting a job and abandoning it.

use super::imp::{AtomicU8, Ordering};

const OPEN: u8 = 0;
const BEGUN: u8 = 1;
const LEFT: u8 = 2;

/// Races starting a job against abandoning it; exactly one side wins.
#[derive(Debug)]
pub(crate) struct Start(AtomicU8);

impl Start {
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(OPEN))
    }

    /// Starts the job. Returns false if it was abandoned or started before.
    pub(crate) fn begin(&self) -> bool {
        self.becomes(BEGUN)
    }

    /// Abandons the job. Returns whether that was in time, so that the job has not started and never will.
    pub(crate) fn leave(&self) -> bool {
        self.becomes(LEFT)
    }

    fn becomes(&self, next: u8) -> bool {
        self.0
            .compare_exchange(OPEN, next, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
    }
}
