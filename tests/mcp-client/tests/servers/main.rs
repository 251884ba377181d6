//! Real third-party MCP servers: their tools imported as tools of this project.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails where it gets nothing"
)]

mod everything;
mod python;
#[path = "../client/support.rs"]
#[allow(dead_code, reason = "the tests of hostile servers use the rest")]
mod support;

use std::process::ExitCode;

use test_support::suite;

fn main() -> ExitCode {
    suite![
        everything::its_tools_are_offered_and_their_results_are_ours_case,
        everything::its_progress_is_ours_and_a_cancelled_call_leaves_it_well_case,
        python::version_1_case,
        python::version_2_case,
    ]
    .run()
}
