//! Readers that follow the runs of a thread on their own connection, on a SQLite file and on PostgreSQL.

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
mod fold;
#[cfg(unix)]
mod turn;

#[cfg(unix)]
use test_support::Ran;

#[cfg(unix)]
fn main() -> ExitCode {
    test_support::suite![
        reader_that_joins_at_any_point_sees_the_same_turn_on_sqlite_case,
        reader_that_joins_at_any_point_sees_the_same_turn_on_postgres_case,
    ]
    .run()
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}

#[cfg(unix)]
async fn reader_that_joins_at_any_point_sees_the_same_turn_on_sqlite_case() -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let writer = tool_store::SqliteStore::open(&file).await.unwrap();
    let reader = tool_store::SqliteStore::open(&file).await.unwrap();
    turn::readers_see_the_same_turn(writer, reader).await;
    Ok(())
}

#[cfg(unix)]
async fn reader_that_joins_at_any_point_sees_the_same_turn_on_postgres_case() -> Ran {
    let url = test_support::postgres::database().await?;
    let writer = tool_store::PostgresStore::open(&url).await.unwrap();
    let reader = tool_store::PostgresStore::open(&url).await.unwrap();
    turn::readers_see_the_same_turn(writer, reader).await;
    Ok(())
}
