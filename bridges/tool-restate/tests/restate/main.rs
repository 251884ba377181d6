//! Threads that a Restate server drives: the server, the processes of the deployment and the database are real, and the tests kill the first two.
//!
//! `TOOL_RESTATE_KILLS` (6) is the number of processes that are killed, and `TOOL_RESTATE_WAITING` (100) the number of turns that wait at once.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(missing_docs, reason = "a test program")]

use std::process::ExitCode;

mod cases;
mod host;
mod server;
mod world;

fn main() -> ExitCode {
    if let Some(job) = host::Job::of_this_process() {
        return host::run(job);
    }
    test_support::suite![
        cases::turns_run_wait_and_are_cancelled_case,
        cases::waiting_turns_continue_on_the_newest_deployment_case,
        cases::aborted_step_does_not_repeat_its_effect_case,
        cases::killed_processes_lose_and_repeat_nothing_case,
    ]
    .run()
}
