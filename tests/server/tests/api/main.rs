//! The admin API over HTTP on a loopback port, with each store.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod access;
mod administration;
mod agents;
mod bodies;
mod changes;
mod documents;
mod event_stream;
mod events;
mod instances;
mod lists;
mod memories;
mod plans;
mod policy;
mod rooms;
mod samples;
mod scheduled_tasks;
mod secrets;
mod stored_tools;
mod thread_events;
mod workspaces;

use std::path::Path;
use std::process::ExitCode;

use server_tests::StoreKind;
use test_support::{Ran, Suite};

/// Creates a suite that runs each test with each store.
macro_rules! suite {
    ($($module:ident::$test:ident),+ $(,)?) => {{
        let mut suite = Suite::new(env!("CARGO_CRATE_NAME"));
        for kind in StoreKind::ALL {
            $(
                let name = concat!(stringify!($module), "::", stringify!($test));
                suite = suite.case(&format!("{name}::{}", kind.as_str()), async move || {
                    kind.check()?;
                    $module::$test(kind).await;
                    Ok(())
                });
            )+
        }
        suite
    }};
}

fn main() -> ExitCode {
    suite![
        access::every_route_requires_a_token,
        access::every_route_requires_its_role,
        access::foreign_hosts_and_origins_are_refused,
        access::server_without_callers_requires_a_random_token,
        access::verified_tokens_have_a_role_and_an_audience,
        administration::workspace_has_settings_that_admins_change_case,
        administration::members_are_changed_by_admins,
        administration::contents_are_erased_with_a_reason,
        administration::old_rows_are_purged_in_limited_requests,
        administration::run_of_a_dead_process_is_ended_by_force,
        administration::effect_of_a_dead_process_is_settled_by_force,
        bodies::unusable_bodies_are_refused,
        bodies::unknown_paths_and_methods_return_problem_responses,
        bodies::store_failure_is_a_problem_without_details,
        bodies::document_describes_every_operation,
        changes::approval_is_answered_once,
        changes::edited_arguments_must_fit_the_tool,
        changes::assignment_with_an_old_etag_is_refused,
        changes::each_change_has_an_audit_row_of_its_operator,
        changes::settled_effect_has_the_form_that_the_gate_replays,
        changes::repeated_request_is_made_once,
        changes::switch_is_applied_by_the_host,
        documents::documents_are_listed_with_their_index,
        documents::content_of_a_document_is_returned,
        documents::document_is_deleted_by_an_admin,
        events::changes_are_streamed_to_their_workspace,
        events::client_continues_at_each_event,
        events::streams_are_refused_without_access,
        events::streams_end_when_the_server_stops,
        events::unknown_id_gets_a_reset,
        thread_events::runs_are_streamed_to_their_workspace,
        thread_events::streams_of_conversations_are_refused_without_access,
        instances::tool_is_enabled_and_disabled_by_hand_case,
        instances::refusal_names_the_source_case,
        instances::skill_enables_the_tools_that_it_requires_case,
        instances::instances_are_added_listed_and_removed_case,
        instances::catalogue_shows_flags_and_keys_of_secrets_case,
        lists::pages_of_the_audit_skip_and_repeat_nothing,
        lists::audit_is_filtered_by_each_parameter,
        lists::export_has_every_row_as_a_json_line,
        lists::malformed_queries_are_refused,
        lists::approvals_effects_runs_tools_switches_and_messages_have_pages,
        lists::names_in_paths_are_percent_encoded,
        memories::memories_are_listed_by_their_filters_case,
        memories::pages_of_memories_are_complete,
        memories::memory_is_corrected_by_an_operator,
        memories::faulty_corrections_are_refused,
        memories::memories_are_deleted_and_erased,
        plans::runs_of_plans_are_listed,
        plans::run_of_a_plan_has_nodes_and_events_case,
        plans::active_plan_is_cancelled,
        policy::policy_is_replaced_only_with_its_current_etag,
        policy::report_names_gaps_of_the_policy,
        policy::shadow_policy_is_compared_and_ended,
        policy::decision_is_explained_to_its_workspace,
        rooms::rooms_are_listed_with_their_counts,
        rooms::outbound_messages_have_the_state_of_their_effect,
        rooms::room_is_deleted_by_an_admin,
        scheduled_tasks::tasks_are_listed_with_their_schedule,
        scheduled_tasks::runs_of_a_deleted_task_are_listed,
        scheduled_tasks::task_is_enabled_from_its_next_due_time,
        secrets::secret_is_written_and_never_read_case,
        secrets::server_without_keys_stores_no_secret_case,
        secrets::misconfigured_tools_name_the_missing_keys_case,
        secrets::keys_are_rotated_in_limited_requests_and_retired_case,
        secrets::variables_are_listed_without_secret_values_case,
        secrets::request_for_variables_is_open_until_every_value_is_stored_case,
        agents::answered_request_starts_its_sub_agent_case,
        stored_tools::tool_is_created_called_disabled_and_deleted,
        stored_tools::tool_has_every_key_and_times_in_iso_8601_case,
        stored_tools::invalid_tools_are_refused_with_json_pointers,
        stored_tools::changes_need_roles_and_are_audited,
        stored_tools::update_with_an_old_etag_is_refused,
        stored_tools::pages_of_tools_are_complete,
        stored_tools::repeated_creation_is_made_once,
        stored_tools::server_without_stored_tools_returns_404,
        workspaces::records_of_another_workspace_are_answered_like_unknown_ones,
        workspaces::lists_contain_no_record_of_another_workspace,
        workspaces::only_operators_of_the_host_choose_the_workspace,
    ]
    .case("every_test_is_in_the_list", every_test_is_in_the_list)
    .run()
}

// A function with a `test` attribute would never run, because this program has its own harness.
#[expect(clippy::unnecessary_wraps, reason = "a case returns `Ran`")]
fn every_test_is_in_the_list() -> Ran {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api");
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let source = std::fs::read_to_string(&path).unwrap();
        let lines = source.lines().map(str::trim_start);
        let tests =
            lines.filter(|line| line.starts_with("#[test]") || line.starts_with("#[tokio::test"));
        found.extend(tests.map(|line| format!("{}: {line}", path.display())));
    }
    assert!(
        found.is_empty(),
        "remove the attribute, take the store as a parameter, and add the test to the list: {found:#?}"
    );
    Ok(())
}
