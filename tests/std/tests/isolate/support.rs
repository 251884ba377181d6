//! Isolations with the tests' helper, and helpers for jobs.

use test_support::Missing;
use tool_std::isolate::{IsolateError, Isolation, Job, Keep, Mechanism, Ran};

/// Returns isolation with every mechanism that the kernel has.
pub(crate) fn isolation() -> Isolation {
    Isolation::new().helper(env!("CARGO_BIN_EXE_std-host"))
}

/// Returns isolation with the helper alone, as on a kernel without any of the mechanisms.
pub(crate) fn bare() -> Isolation {
    let all = Mechanism::ALL.iter().copied();
    all.fold(isolation(), Isolation::without)
}

/// Returns a job that runs a shell script with only a `PATH`.
pub(crate) fn sh(script: impl Into<String>) -> Job {
    Job::new("sh")
        .args([String::from("-c"), script.into()])
        .env("PATH", "/usr/bin:/bin")
}

/// Returns an error if this kernel does not have the mechanism for this user.
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
