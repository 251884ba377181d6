//! Cases that need a kernel feature or a privilege, or must run without privileges.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]
#![allow(
    dead_code,
    reason = "each test target uses a part of the shared modules"
)]

#[path = "../git/clock.rs"]
mod clock;
#[path = "../isolate/run_command/support.rs"]
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
        restrict::job_reads_and_writes_only_granted_paths_case,
        restrict::read_only_mounts_refuse_changes_that_landlock_allows_case,
        restrict::devices_sysfs_and_cgroups_keep_their_modes_case,
        restrict::no_job_changes_the_mounts_of_the_host_case,
        restrict::job_sees_only_granted_paths_case,
        restrict::missing_path_cannot_be_granted_case,
        restrict::job_cannot_read_other_processes_environment_case,
        restrict::job_can_signal_only_its_own_processes_case,
        restrict::job_cannot_change_resources_shared_by_its_user_case,
        restrict::a_fork_bomb_is_stopped_at_the_deadline_case,
        restrict::tcp_connects_only_to_allowed_ports_case,
        restrict::job_without_a_network_cannot_send_udp_case,
        restrict::memory_limit_covers_all_processes_of_a_job_case,
        ends::namespace_kills_the_job_of_a_killed_supervisor_case,
        ends::cgroup_kills_the_job_of_a_killed_supervisor_case,
        ends::killed_supervisor_leaves_no_cgroup_case,
        ends::unprivileged_host_leaves_no_cgroup_case,
        ends::unusable_user_namespace_is_not_used_case,
        ends::own_binary_is_restricted_like_any_job_case,
        process::a_fork_bomb_leaves_no_process_case,
        process::writes_outside_the_workspace_are_refused_case,
        process::signals_do_not_reach_the_host_case,
        process::memory_of_all_processes_together_is_limited_case,
        process::unprivileged_host_restricts_its_commands_case,
        workspace::read_only_files_are_deleted_case,
        workspace::deleting_a_workspace_skips_unremovable_files_case,
        files::devices_are_refused_without_waiting_case,
        files::mounts_are_refused_unless_the_host_allows_them_case,
        files::unreadable_folder_is_reported_case,
        hosts::packs_work_with_and_without_root_and_helper_case,
        git::unremovable_clone_does_not_block_new_clones_case,
    ]
    .run()
}
