//! Helpers that create isolations with the tests' helper binary, and jobs.

use test_support::Missing;
use tool_std::isolate::{IsolateError, Isolation, Job, JobOutcome, Keep, Mechanism};

/// Returns an isolation with every mechanism that the kernel supports.
pub(crate) fn isolation() -> Isolation {
    Isolation::new().helper(env!("CARGO_BIN_EXE_std-host"))
}

/// Returns an isolation with the helper and no mechanism, as on a kernel that supports none of them.
pub(crate) fn bare() -> Isolation {
    let all = Mechanism::ALL.iter().copied();
    all.fold(isolation(), Isolation::without)
}

/// Returns a job that runs a shell script. Its only variable is `PATH`.
pub(crate) fn sh(script: impl Into<String>) -> Job {
    Job::new("sh")
        .args([String::from("-c"), script.into()])
        .env("PATH", "/usr/bin:/bin")
}

/// Returns an error if the mechanism is unavailable with this kernel and user.
pub(crate) async fn needs(mechanism: Mechanism) -> Result<(), Missing> {
    let strict = isolation().require(mechanism);
    match strict.run(Job::new("/bin/true"), Keep::default()).await {
        Ok(_) => Ok(()),
        Err(IsolateError::NotInForce(reason)) => Err(Missing::new(reason)),
        Err(error) => panic!("{error}"),
    }
}

pub(crate) async fn run(isolation: &Isolation, job: Job) -> JobOutcome {
    isolation.run(job, Keep::default()).await.unwrap()
}
