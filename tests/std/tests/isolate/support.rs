//! Isolations with the tests' helper, and the table of processes.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tool_std::isolate::{IsolateError, Isolation, Job, Keep, Mechanism, Ran};

/// Everything that the kernel has.
pub(crate) fn isolation() -> Isolation {
    Isolation::new().helper(env!("CARGO_BIN_EXE_host"))
}

/// The helper alone: what has to hold where the kernel has nothing else.
pub(crate) fn bare() -> Isolation {
    [
        Mechanism::Landlock,
        Mechanism::PidNamespace,
        Mechanism::NetworkNamespace,
        Mechanism::CgroupKill,
        Mechanism::PidsCgroup,
        Mechanism::MemoryCgroup,
        Mechanism::Capabilities,
    ]
    .into_iter()
    .fold(isolation(), Isolation::without)
}

/// A job of the shell, with nothing but a `PATH`.
pub(crate) fn sh(script: impl Into<String>) -> Job {
    Job::new("sh")
        .args([String::from("-c"), script.into()])
        .env("PATH", "/usr/bin:/bin")
}

/// Whether the kernel has it for this user; where not, the reason is printed and the test is skipped.
pub(crate) async fn has(mechanism: Mechanism) -> bool {
    let strict = isolation().require(mechanism);
    match strict.run(Job::new("/bin/true"), Keep::default()).await {
        Ok(_) => true,
        Err(IsolateError::NotInForce(reason)) => {
            println!("skipped: {reason}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

pub(crate) async fn run(isolation: &Isolation, job: Job) -> Ran {
    isolation.run(job, Keep::default()).await.unwrap()
}

/// Seconds that nobody else sleeps, by which a test knows its processes.
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self(format!("1{:07}.{count}", std::process::id()))
    }

    /// What to sleep for: longer than any test.
    pub(crate) fn seconds(&self) -> &str {
        &self.0
    }

    /// How many processes sleep for it.
    pub(crate) fn alive(&self) -> usize {
        let wanted = format!("sleep\0{}\0", self.0);
        std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
            .filter(|line| line == wanted.as_bytes())
            .count()
    }

    /// Waits until there are that many.
    pub(crate) fn wait_for(&self, count: usize) {
        let began = Instant::now();
        while self.alive() != count {
            assert!(began.elapsed().as_secs() < 20, "{} alive", self.alive());
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
