//! Tests that import tools of real third-party MCP servers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod everything;
mod python;
#[path = "../client/support.rs"]
#[allow(dead_code, reason = "the other test target uses the remaining helpers")]
mod support;

use std::process::ExitCode;

use test_support::suite;

fn main() -> ExitCode {
    suite![
        everything::everything_server_tools_and_results_are_converted_case,
        everything::everything_server_progress_and_cancellation_work_case,
        python::version_1_case,
        python::version_2_case,
    ]
    .run()
}
