//! Tests of the packs of vendors with third-party servers and with published OpenAPI documents.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod email;
mod github;
mod openapi;
mod s3;
#[path = "../http/support.rs"]
#[allow(dead_code, reason = "these tests use a part of the support")]
mod support;

use std::process::ExitCode;

use test_support::suite;

fn main() -> ExitCode {
    suite![
        email::message_arrives_unchanged_case,
        email::login_is_sent_over_tls_only_case,
        email::each_call_uses_its_own_login_case,
        email::faults_of_the_server_are_reported_case,
        github::each_tool_matches_the_openapi_document_case,
        s3::files_are_stored_in_s3_case,
        s3::missing_bucket_is_unavailable_case,
    ]
    .run()
}
