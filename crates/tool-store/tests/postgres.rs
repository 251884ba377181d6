//! Tests of `PostgresStore` on a real server, which this program starts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests read the real clock and spawn their own tasks"
)]

#[cfg(unix)]
#[path = "postgres/database.rs"]
mod database;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    use tool_store::suite::Opener;
    use tool_store::{PostgresClock, conformance_cases};

    let mut suite = test_support::Suite::new(env!("CARGO_CRATE_NAME"));
    let cases = conformance_cases!(
        Opener::new(
            async || database::Database::create().await.expect("a database"),
            async |database| {
                let options = database.options().clock(PostgresClock::Caller);
                options.open().await.expect("a store")
            },
        )
        .cases(24),
        [BatchStore, Catalogue, Maintenance]
    );
    for case in cases {
        suite = suite.case(&format!("conformance::{}", case.name()), || {
            test_support::postgres::server()?;
            case.run();
            Ok(())
        });
    }
    suite.run()
}

#[cfg(not(unix))]
fn main() {}
