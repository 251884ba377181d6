//! Isolations with the tests' helper, and the table of processes.

use test_support::Missing;
use tool_std::isolate::{IsolateError, Isolation, Job, Keep, Mechanism, Ran};

/// Everything that the kernel has.
pub(crate) fn isolation() -> Isolation {
    Isolation::new().helper(env!("CARGO_BIN_EXE_std-host"))
}

/// The helper alone: what has to hold where the kernel has nothing else.
pub(crate) fn bare() -> Isolation {
    let all = Mechanism::ALL.iter().copied();
    all.fold(isolation(), Isolation::without)
}

/// A job of the shell, with nothing but a `PATH`.
pub(crate) fn sh(script: impl Into<String>) -> Job {
    Job::new("sh")
        .args([String::from("-c"), script.into()])
        .env("PATH", "/usr/bin:/bin")
}

/// Why the kernel does not have it for this user.
pub(crate) async fn needs(mechanism: Mechanism) -> Result<(), Missing> {
    let strict = isolation().require(mechanism);
    match strict.run(Job::new("/bin/true"), Keep::default()).await {
        Ok(_) => Ok(()),
        Err(IsolateError::NotInForce(reason)) => Err(Missing::new(reason)),
        Err(error) => panic!("{error}"),
    }
}

pub(crate) async fn run(isolation: &Isolation, job: Job) -> Ran {
    isolation.run(job, Keep::default()).await.unwrap()
}
