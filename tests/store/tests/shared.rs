//! Hosts that share a PostgreSQL database: kill switches and enablement rows take effect in all hosts, and a host that cannot read the switches
//! refuses effects.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

use std::process::ExitCode;

#[cfg(unix)]
#[path = "shared/instances.rs"]
mod instances;
#[cfg(unix)]
#[path = "shared/switches.rs"]
mod switches;

#[cfg(unix)]
fn main() -> ExitCode {
    test_support::suite![
        instances::enablement_reaches_another_host_within_a_second_case,
        switches::host_that_cannot_read_the_switches_refuses_effects_case,
        switches::kill_switch_cancels_a_call_of_another_host_case,
        switches::kill_switch_reaches_another_host_within_a_second_case,
    ]
    .run()
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
