//! Worker and scheduler processes that are killed or suspended, on PostgreSQL and on a SQLite file.
//!
//! This program starts itself as its worker processes. Each process drives scripted agents, whose effects are lines of a file.

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
mod cases;
#[cfg(unix)]
mod process;
#[cfg(unix)]
mod schedule;
#[cfg(unix)]
mod schedule_cases;
#[cfg(unix)]
mod tree;
#[cfg(unix)]
mod tree_cases;
#[cfg(unix)]
mod work;

#[cfg(unix)]
fn main() -> ExitCode {
    if let Some(job) = process::Job::of_this_process() {
        return work::run(&job);
    }
    if let Some(job) = tree::Job::of_this_process() {
        return tree::run(&job);
    }
    if let Some(job) = schedule::Job::of_this_process() {
        return schedule::run(&job);
    }
    test_support::suite![
        cases::killed_worker_is_replaced_within_a_lease_on_postgres_case,
        cases::killed_worker_is_replaced_within_a_lease_on_sqlite_case,
        cases::effect_of_a_killed_worker_is_settled_and_not_repeated_on_postgres_case,
        cases::effect_of_a_killed_worker_is_settled_and_not_repeated_on_sqlite_case,
        cases::suspended_worker_writes_nothing_on_postgres_case,
        cases::suspended_worker_writes_nothing_on_sqlite_case,
        cases::run_that_kills_its_processes_ends_at_the_crash_limit_on_postgres_case,
        cases::run_that_kills_its_processes_ends_at_the_crash_limit_on_sqlite_case,
        cases::notification_wakes_a_worker_before_its_poll_case,
        tree_cases::process_is_killed_at_every_point_of_a_tree_on_postgres_case,
        tree_cases::process_is_killed_at_every_point_of_a_tree_on_sqlite_case,
        schedule_cases::three_processes_run_each_task_once_on_postgres_case,
        schedule_cases::three_processes_run_each_task_once_on_sqlite_case,
        schedule_cases::killed_run_continues_in_a_different_scheduler_on_postgres_case,
        schedule_cases::killed_run_continues_in_a_different_scheduler_on_sqlite_case,
    ]
    .run()
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}
