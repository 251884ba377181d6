//! Third-party programs that call the test server: MCP clients and the official conformance suite.

mod clients;
mod conformance;
mod support;

use std::process::ExitCode;

use test_support::suite;

fn main() -> ExitCode {
    suite![
        clients::python_1_case,
        clients::python_2_case,
        clients::typescript_case,
        clients::ai_sdk_case,
        clients::inspector_case,
        conformance::full_server_passes_every_scenario_of_both_protocol_versions_case,
        conformance::tools_only_server_fails_only_non_tool_scenarios_case,
    ]
    .run()
}
