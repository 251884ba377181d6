//! Recall of `search_memory` on public question sets: by words, by meaning and by both, on every store.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod figures;
mod questions;
mod search;

use std::process::ExitCode;

use test_support::postgres::database;
use test_support::{Ran, suite};
use tool_core::store::{LongTermStore, MemoryStore, ThreadStore};
use tool_store::{PostgresStore, SqliteStore};

use figures::{Figures, Row, figures, recorded, update};
use questions::QuestionSet;
use search::{Host, Search};

/// How much worse a figure of the search by words and meaning may be than that of the better one of both: one percentage point. On the full sets the difference
/// is not negative.
const WORSE: f64 = 0.01;

/// How much a figure may differ from the recorded one on a database, whose vector search may be approximate.
const APPROXIMATE: f64 = 0.01;

fn main() -> ExitCode {
    suite![
        recall_in_memory_case,
        recall_on_sqlite_case,
        recall_on_postgres_case,
    ]
    .run()
}

/// Measures searches over all sets, each of which is the workspace of its language.
async fn measured<S: LongTermStore + ThreadStore + Clone>(
    store: S,
    searches: &[Search],
) -> Vec<Row> {
    let sets = QuestionSet::all();
    let mut hosts = Vec::new();
    for set in &sets {
        hosts.push(Host::with_passages(store.clone(), set).await);
    }
    let mut rows = Vec::new();
    for (host, set) in hosts.iter().zip(&sets) {
        for search in searches {
            let mut figures = Figures::default();
            for question in &set.questions {
                let found = host.found(question, *search).await;
                figures.count(question, &found);
            }
            let figures = figures.mean(set.questions.len());
            let row = Row {
                set: set.title(),
                search: search.title(),
                figures,
            };
            println!("{row}");
            rows.push(row);
        }
        is_fused_well(&rows);
    }
    rows
}

/// Checks the rows of the last set.
fn is_fused_well(rows: &[Row]) {
    let of = |search: Search| {
        let row = |row: &&Row| row.search == search.title();
        rows.iter().rev().find(row).map(|row| row.figures.all())
    };
    let [words, meaning, both] = [Search::Words, Search::Meaning, Search::Both].map(of);
    let better = words.unwrap().into_iter().zip(meaning.unwrap());
    for (both, (words, meaning)) in both.unwrap().into_iter().zip(better) {
        assert!(both >= words.max(meaning) - WORSE, "{rows:?}");
    }
    // The fast mode skips the reranker, and a reranker can use what the searches found.
    if let (Some(reranked), Some(fast)) = (of(Search::Reranked), of(Search::Fast)) {
        assert_eq!(Some(fast), both);
        assert!(reranked[0] > fast[0], "{rows:?}");
    }
}

// S2-29: the recall of each search is the recorded one. `UPDATE=1` writes the table of the docs.
async fn recall_in_memory_case() -> Ran {
    let rows = measured(MemoryStore::default(), &Search::ALL).await;
    if std::env::var_os("UPDATE").is_some() {
        update(&rows);
        return Ok(());
    }
    let rows: Vec<String> = rows.iter().map(Row::to_string).collect();
    assert_eq!(
        recorded(),
        rows,
        "run `UPDATE=1 cargo test -p std-tests --test recall in_memory`"
    );
    Ok(())
}

/// Checks that a store finds what the store in memory finds.
async fn recall_is_recorded(store: impl LongTermStore + ThreadStore + Clone) {
    let searches = [Search::Words, Search::Meaning, Search::Both];
    let recorded = recorded();
    for row in measured(store, &searches).await {
        let name = row.name();
        let recorded = recorded.iter().find(|row| row.starts_with(&name)).unwrap();
        for (figure, recorded) in row.figures.all().into_iter().zip(figures(recorded)) {
            assert!(
                (figure - recorded).abs() <= APPROXIMATE,
                "{row}, but recorded is {recorded}"
            );
        }
    }
}

// S2-29: SQLite finds what the store in memory finds.
async fn recall_on_sqlite_case() -> Ran {
    recall_is_recorded(SqliteStore::in_memory().await.unwrap()).await;
    Ok(())
}

// S2-29: PostgreSQL finds what the store in memory finds.
async fn recall_on_postgres_case() -> Ran {
    let url = database().await?;
    recall_is_recorded(PostgresStore::open(&url).await.unwrap()).await;
    Ok(())
}
