//! Identification of the processes of one test in the process table by their sleep time.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Returns the arguments of every process. Each argument is followed by NUL.
fn arguments() -> impl Iterator<Item = String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).into_owned())
}

/// A unique sleep time in seconds, by which a test finds its processes.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("1{:07}.{count}", std::process::id()))
    }

    /// Returns the sleep time in seconds, which is longer than any test.
    pub(crate) fn seconds(&self) -> &str {
        &self.0
    }

    /// Counts the processes that sleep for this time.
    pub(crate) fn alive(&self) -> usize {
        let wanted = format!("sleep\0{}\0", self.0);
        arguments().filter(|line| *line == wanted).count()
    }

    /// Counts the processes with this time anywhere in their arguments.
    pub(crate) fn mentioned(&self) -> usize {
        arguments().filter(|line| line.contains(&self.0)).count()
    }

    /// Waits until this number of processes sleep for this time.
    pub(crate) fn wait_for(&self, count: usize) {
        let began = Instant::now();
        while self.alive() != count {
            assert!(
                began.elapsed().as_secs() < 120,
                "{} processes are alive",
                self.alive()
            );
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
