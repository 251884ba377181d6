//! A clock that a test sets.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use tool_core::env::{self, Entered, Env, Task, Work};
use tool_core::store::Timestamp;

/// A clock that advances only when a test sets it. It applies to the thread of the test.
pub(crate) struct Clock {
    millis: AtomicI64,
    serial: AtomicI64,
    start: Instant,
}

impl Clock {
    /// Starts the clock at a time such as `2026-03-01T00:00:00Z`.
    pub(crate) fn at(text: &str) -> (Arc<Self>, Entered) {
        let clock = Arc::new(Self {
            millis: AtomicI64::new(millis(text)),
            serial: AtomicI64::new(0),
            start: Instant::now(),
        });
        let entered = env::enter(Arc::clone(&clock) as Arc<dyn Env>);
        (clock, entered)
    }

    pub(crate) fn set(&self, text: &str) {
        self.millis.store(millis(text), Ordering::SeqCst);
    }

    pub(crate) fn pass(&self, wait: Duration) {
        let wait = i64::try_from(wait.as_millis()).unwrap();
        self.millis.fetch_add(wait, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> Timestamp {
        Timestamp::from_millis(self.millis.load(Ordering::SeqCst))
    }
}

impl Env for Clock {
    fn now(&self) -> Timestamp {
        Clock::now(self)
    }

    fn monotonic(&self) -> Instant {
        let passed = self.millis.load(Ordering::SeqCst).unsigned_abs();
        self.start + Duration::from_millis(passed % 1_000_000_000)
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        let serial = self.serial.fetch_add(1, Ordering::SeqCst).to_le_bytes();
        for (byte, value) in bytes.iter_mut().zip(serial.into_iter().cycle()) {
            *byte = value;
        }
        Ok(())
    }

    fn spawn(&self, task: Task) {
        tokio::spawn(task);
    }

    fn spawn_blocking(&self, work: Work) {
        work();
    }
}

fn millis(text: &str) -> i64 {
    time(text).as_millis()
}

/// Reads a time in UTC.
pub(crate) fn time(text: &str) -> Timestamp {
    let now = Timestamp::from_millis(0);
    tool_std::schedule::read_time(text, "UTC", now).unwrap()
}
