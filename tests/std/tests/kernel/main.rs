//! Cases that need a kernel feature, a privilege, or the absence of one.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]
#![allow(dead_code, reason = "the shared parts have more than is used here")]

#[path = "../git/clock.rs"]
mod clock;
#[path = "../process/support.rs"]
mod commands;
#[path = "../isolate/mark.rs"]
mod mark;
#[path = "../fs/escape/outside.rs"]
mod outside;
#[path = "../fs/place.rs"]
mod place;
#[path = "../git/server.rs"]
mod server;
#[path = "../isolate/support.rs"]
mod support;
#[path = "../fs/escape/trial.rs"]
mod trial;
#[path = "../git/world.rs"]
mod world;

mod ends;
mod files;
mod git;
mod hosts;
mod process;
mod restrict;
mod workspace;

use std::process::ExitCode;

use test_support::suite;

fn main() -> ExitCode {
    if workspace::child() {
        return ExitCode::SUCCESS;
    }
    suite![
        restrict::a_job_reads_and_writes_where_it_may_and_nowhere_else_case,
        restrict::what_landlock_lets_pass_the_mounts_refuse_case,
        restrict::devices_sysfs_and_cgroups_keep_their_modes_case,
        restrict::no_job_changes_the_mounts_of_the_host_case,
        restrict::a_job_finds_what_it_was_granted_and_nothing_else_case,
        restrict::a_path_that_is_not_there_cannot_be_granted_case,
        restrict::no_other_process_shows_its_environment_case,
        restrict::a_job_signals_its_own_and_nobody_else_case,
        restrict::a_job_changes_nothing_that_processes_of_its_user_share_case,
        restrict::a_fork_bomb_is_bounded_and_ends_case,
        restrict::tcp_goes_where_the_rules_say_case,
        restrict::without_a_network_not_even_udp_leaves_case,
        restrict::one_gigabyte_in_parts_is_not_to_be_had_case,
        ends::a_supervisor_that_is_killed_takes_its_namespace_along_case,
        ends::a_supervisor_that_is_killed_takes_its_cgroup_along_case,
        ends::a_supervisor_that_is_killed_leaves_no_cgroup_whether_one_waits_or_not_case,
        ends::a_host_without_privileges_leaves_no_cgroup_case,
        ends::a_namespace_that_is_half_made_is_done_without_case,
        ends::this_binary_reads_no_more_than_a_job_may_case,
        process::a_fork_bomb_leaves_nothing_case,
        process::writes_outside_leave_nothing_case,
        process::signals_to_the_host_leave_nothing_case,
        process::memory_of_all_processes_together_is_limited_case,
        process::a_host_without_privileges_keeps_its_commands_as_well_case,
        workspace::what_a_program_made_read_only_goes_as_well_case,
        workspace::the_end_of_an_instance_goes_past_what_cannot_be_removed_case,
        files::devices_are_told_apart_at_once_case,
        files::what_is_mounted_is_refused_unless_the_host_allows_it_case,
        files::a_folder_that_is_shut_is_an_error_that_says_so_case,
        hosts::packs_work_for_every_kind_of_host_case,
        git::a_clone_that_cannot_be_removed_keeps_no_other_from_being_made_case,
    ]
    .run()
}
