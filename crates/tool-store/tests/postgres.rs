//! Tests of `PostgresStore` on a real server, which this program starts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::wildcard_imports,
    reason = "a test fails by panicking, and uses many records"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

#[cfg(unix)]
#[path = "postgres"]
mod tests {
    pub(crate) mod changes;
    pub(crate) mod child_threads;
    #[path = "../shared/children.rs"]
    pub(crate) mod children;
    pub(crate) mod clocks;
    pub(crate) mod commit;
    #[path = "../shared/contents.rs"]
    pub(crate) mod contents;
    pub(crate) mod crash;
    pub(crate) mod database;
    #[path = "../shared/erasure.rs"]
    pub(crate) mod erasure;
    pub(crate) mod events;
    #[path = "../shared/memories.rs"]
    pub(crate) mod large_memories;
    pub(crate) mod large_scopes;
    pub(crate) mod limits;
    pub(crate) mod memories;
    pub(crate) mod pgvector;
    pub(crate) mod plans;
    pub(crate) mod pooler;
    pub(crate) mod processes;
    pub(crate) mod sealed;
    #[path = "../shared/sentinels.rs"]
    pub(crate) mod sentinels;
    #[path = "../shared/limits.rs"]
    pub(crate) mod shared_limits;
    pub(crate) mod start;
    pub(crate) mod stored_tools;
    pub(crate) mod vectors;
}
#[cfg(unix)]
use tests::{
    changes, child_threads, children, clocks, commit, contents, crash, database, erasure, events,
    large_memories, large_scopes, limits, memories, pgvector, plans, pooler, processes, sealed,
    sentinels, shared_limits, start, stored_tools, vectors,
};

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    if processes::is_child() {
        return processes::run_child();
    }
    let suite = test_support::suite![
        changes::change_is_noticed_by_polling_without_notifications_case,
        changes::change_of_an_operator_reaches_another_process_by_notification_case,
        changes::change_reaches_another_process_by_notification_case,
        changes::enablement_reaches_another_process_by_notification_case,
        changes::listener_that_lost_its_connection_connects_again_case,
        changes::listener_with_a_half_open_connection_connects_again_case,
        changes::change_before_the_wait_is_not_missed_case,
        changes::queued_thread_wakes_other_processes_case,
        child_threads::failed_write_to_a_child_thread_changes_nothing_case,
        clocks::approvals_expire_by_the_database_case,
        clocks::changes_of_operators_follow_the_database_case,
        clocks::effect_leases_follow_the_database_case,
        clocks::expired_effect_leases_are_noticed_by_every_host_case,
        clocks::renewed_effect_lease_counts_from_its_renewal_case,
        clocks::run_leases_follow_the_database_case,
        clocks::spilled_outputs_expire_by_the_database_case,
        commit::commit_that_did_not_arrive_is_repeated_case,
        commit::commit_with_a_lost_response_is_not_repeated_case,
        commit::deadlocks_are_resolved_by_repeating_case,
        commit::half_open_connections_are_replaced_case,
        commit::idle_connections_that_were_closed_are_replaced_case,
        commit::lost_connections_are_replaced_a_bounded_number_of_times_case,
        commit::outcome_is_unknown_if_the_server_cannot_be_queried_case,
        commit::unresponsive_network_fails_calls_within_the_timeout_case,
        commit::store_works_after_the_server_was_unreachable_case,
        crash::dropped_caller_leaves_the_store_consistent_case,
        crash::killed_processes_leave_the_store_consistent_case,
        events::open_transaction_delays_and_loses_no_event_case,
        events::restored_database_resets_its_readers_case,
        events::rows_of_savepoints_are_events_of_their_transaction_case,
        events::transaction_of_another_database_delays_no_event_case,
        limits::limits_follow_the_clock_of_the_database_behind_a_pooler_case,
        limits::permits_of_a_killed_process_return_case,
        limits::processes_together_do_not_exceed_a_limit_case,
        memories::small_scope_is_found_next_to_a_large_one_case,
        pgvector::dump_is_restored_with_and_without_pgvector_case,
        pgvector::interrupted_index_is_created_again_case,
        pgvector::searches_work_behind_a_pooler_case,
        pgvector::store_works_without_pgvector_case,
        plans::every_list_and_filter_uses_its_index_case,
        pooler::store_works_behind_a_pooler_in_transaction_mode_case,
        sealed::contents_are_read_back_unchanged_case,
        sealed::erasure_and_retention_remove_stored_responses_case,
        sealed::erasure_removes_sealed_contents_case,
        sealed::erasure_removes_variables_case,
        sealed::plans_are_sealed_case,
        sealed::journals_of_sealing_handles_are_separate_case,
        sealed::key_service_is_needed_to_write_contents_case,
        sealed::error_names_the_missing_key_of_contents_case,
        sealed::memories_are_not_sealed_case,
        sealed::moved_contents_do_not_open_case,
        sealed::no_file_of_the_server_contains_a_secret_case,
        sealed::retirement_waits_for_contents_that_are_being_written_case,
        sealed::retirement_waits_for_values_that_are_being_written_case,
        sealed::rotation_covers_contents_case,
        sealed::unsealed_contents_are_read_case,
        start::database_of_a_later_version_is_not_changed_case,
        start::four_processes_start_on_an_empty_database_case,
        start::migrator_may_have_more_rights_than_the_store_case,
        start::errors_do_not_contain_the_password_case,
        start::tables_of_the_host_are_not_changed_case,
        start::unreachable_server_is_named_in_the_error_case,
        stored_tools::function_is_not_removed_while_a_tool_of_another_owner_is_created_case,
        stored_tools::one_of_many_updates_on_open_connections_wins_case,
        stored_tools::tables_refuse_invalid_rows_case,
        vectors::embeddings_without_a_code_are_found_case,
        vectors::interrupted_change_of_the_model_is_continued_case,
        vectors::models_and_dimensions_are_not_mixed_in_a_large_scope_case,
        vectors::small_scope_is_searched_exactly_next_to_a_large_one_case,
    ];
    conformance(suite).run()
}

/// Adds the conformance suite, on a store and on a handle that seals contents.
#[cfg(unix)]
fn conformance(mut suite: test_support::Suite) -> test_support::Suite {
    use tool_store::conformance_cases;
    use tool_store::suite::Opener;

    let plain = conformance_cases!(
        Opener::new(
            async || database::Database::create().await.expect("a database"),
            async |database| opened(database).await,
        )
        .cases(24),
        [
            BatchStore,
            BudgetStore,
            Catalogue,
            ChangeStore,
            ChildStore,
            EnablementStore,
            EventStore,
            KnowledgeStore,
            LimitStore,
            LongTermStore,
            Maintenance,
            PlanStore,
            RoomStore,
            ScheduleStore,
            StoredToolStore,
            ThreadEventStore,
            VaultStore,
            WorkStore
        ]
    );
    // These optional traits are also tested on a handle that seals contents.
    let sealing = conformance_cases!(
        Opener::new(
            async || {
                let database = database::Database::create().await.expect("a database");
                sealing(opened(&database).await).await
            },
            async |store| store.clone(),
        )
        .cases(8),
        [
            BatchStore,
            ChangeStore,
            ChildStore,
            Maintenance,
            RoomStore,
            ScheduleStore,
            ThreadEventStore,
            VaultStore,
            WorkStore
        ]
    );
    for (name, cases) in [("conformance", plain), ("sealing", sealing)] {
        for case in cases {
            suite = suite.case(&format!("{name}::{}", case.name()), || {
                test_support::postgres::server()?;
                case.run();
                Ok(())
            });
        }
    }
    suite
}

/// Returns a store that uses the times of its callers instead of the database's clock.
#[cfg(unix)]
async fn opened(database: &database::Database) -> tool_store::PostgresStore {
    let options = database.options().clock(tool_store::PostgresClock::Caller);
    options.open().await.expect("a store")
}

/// Returns a handle that seals contents. The id of its key is the last one in lists, because the tests look at the first key.
#[cfg(unix)]
async fn sealing(store: tool_store::PostgresStore) -> tool_store::PostgresStore {
    use tool_store::seal::{SealKey, SealKeys, Vault};

    let keys = SealKeys::new("z1", SealKey::new(&[9; 32])).expect("keys");
    let vault = Vault::open(store.clone(), keys).await.expect("a vault");
    store.sealing(&vault).expect("a vault with keys")
}

#[cfg(not(unix))]
fn main() {}
