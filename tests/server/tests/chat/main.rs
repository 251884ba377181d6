//! Tests of the chat endpoint over HTTP on a loopback port, with each store: its runs, its requests, and the AI SDK as its client.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod agents;
mod browser;
mod host;
mod interface;
mod requests;
mod runs;

use std::process::ExitCode;

use test_support::Suite;

use host::Kind;

/// Creates a suite that runs each test with each store.
macro_rules! suite {
    ($($module:ident::$test:ident),+ $(,)?) => {{
        let mut suite = Suite::new(env!("CARGO_CRATE_NAME"));
        for kind in Kind::ALL {
            $(
                let name = concat!(stringify!($module), "::", stringify!($test));
                suite = suite.case(&format!("{name}::{}", kind.as_str()), async move || {
                    kind.check()?;
                    $module::$test(kind).await
                });
            )+
        }
        suite
    }};
}

fn main() -> ExitCode {
    suite![
        interface::ai_sdk_shows_every_scenario_case,
        requests::callers_without_access_are_refused,
        requests::conversations_of_others_are_answered_like_unknown_ones_case,
        requests::unusable_bodies_are_refused,
        requests::history_of_the_client_is_ignored_case,
        requests::answers_of_other_conversations_and_users_are_refused_case,
        requests::results_for_tools_of_the_host_are_ignored_case,
        requests::message_is_refused_while_questions_are_open,
        runs::conversations_run_at_the_same_time,
        runs::second_request_during_a_run_is_refused,
        runs::disconnected_client_does_not_stop_the_run,
        runs::stream_is_resumed_from_its_beginning,
        runs::stream_of_another_process_shows_stored_messages,
        runs::run_is_stopped_and_its_text_is_kept,
        runs::run_of_another_process_is_stopped,
        runs::failed_model_ends_the_stream_with_a_generic_text,
        runs::panic_of_the_model_ends_the_stream,
        runs::run_continues_after_the_death_of_its_process,
    ]
    .case(
        "agents::approvals_of_a_sub_agent_are_answered_in_the_conversation",
        agents::approvals_of_a_sub_agent_are_answered_in_the_conversation_case,
    )
    .case(
        "agents::pieces_are_streamed_from_another_process",
        agents::pieces_are_streamed_from_another_process,
    )
    .case(
        "agents::stream_of_another_process_ends_before_the_next_message",
        agents::stream_of_another_process_ends_before_the_next_message,
    )
    .case(
        "agents::threads_of_sub_agents_are_not_conversations",
        agents::threads_of_sub_agents_are_not_conversations,
    )
    .case(
        "agents::withdrawn_pieces_reset_the_step",
        agents::withdrawn_pieces_reset_the_step,
    )
    .case(
        "browser::react_with_ai_sdk_5_shows_the_streams",
        browser::react_with_ai_sdk_5_shows_the_streams_case,
    )
    .case(
        "browser::react_with_ai_sdk_6_answers_approvals",
        browser::react_with_ai_sdk_6_answers_approvals_case,
    )
    .case(
        "browser::react_with_ai_sdk_7_withdraws_pieces",
        browser::react_with_ai_sdk_7_withdraws_pieces_case,
    )
    .case(
        "ai_sdk_6_shows_every_scenario_except_resumed_streams",
        interface::ai_sdk_6_shows_every_scenario_except_resumed_streams_case,
    )
    .run()
}
