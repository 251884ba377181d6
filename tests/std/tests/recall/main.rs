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

/// The maximum amount by which a figure of the search by words and meaning may be worse than the better figure of the two single searches: one
/// percentage point.
const WORSE: f64 = 0.01;

/// The maximum difference between a measured and a recorded figure on a database, whose vector search may be approximate.
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

/// Checks in the rows of the last set that the search by words and meaning is at most [`WORSE`] worse than the better of the two single searches.
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
    // The fast mode skips the reranker, so it equals the search without a reranker. A perfect reranker improves the results.
    if let (Some(reranked), Some(fast)) = (of(Search::Reranked), of(Search::Fast)) {
        assert_eq!(Some(fast), both);
        assert!(reranked[0] > fast[0], "{rows:?}");
    }
}

// S2-29: the recall of each search equals the recorded recall. `UPDATE=1` writes the table of the docs.
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

/// Checks that the figures of a store equal the recorded figures, except for a small difference.
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

// S2-29: the recall on SQLite equals the recall of the store in memory.
async fn recall_on_sqlite_case() -> Ran {
    recall_is_recorded(SqliteStore::in_memory().await.unwrap()).await;
    Ok(())
}

// S2-29: the recall on PostgreSQL equals the recall of the store in memory.
async fn recall_on_postgres_case() -> Ran {
    let url = database().await?;
    recall_is_recorded(PostgresStore::open(&url).await.unwrap()).await;
    Ok(())
}
