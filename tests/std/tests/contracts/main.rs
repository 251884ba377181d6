//! The types of `tool-contracts` compared with the tools that are linked, and the crate's dependencies.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::unnecessary_wraps,
    reason = "a test fails by panicking, and each case of a suite returns a result"
)]

mod build;
mod envelopes;
mod names;
mod page;
mod schemas;

use std::process::ExitCode;

use test_support::suite;

fn main() -> ExitCode {
    suite![
        build::contracts_depend_on_serde_alone_case,
        build::contracts_build_for_web_assembly_case,
        envelopes::results_and_failures_are_read_case,
        names::no_crate_repeats_the_name_of_a_tool_case,
        page::each_name_of_other_systems_has_one_row_case,
        page::categories_have_the_tools_of_the_page_case,
        schemas::each_linked_tool_equals_its_contract_case,
        schemas::names_are_constants_case,
        schemas::descriptions_of_tools_contain_no_links_case,
        schemas::http_result_is_read_without_loss_case,
        schemas::error_kinds_have_the_names_of_the_host_case,
    ]
    .run()
}
