//! Tests of faults of the disk, the file and other connections: a change fails if a fault occurs during it, and later changes succeed.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::{Path, PathBuf};
use std::task::Poll;
use std::time::Duration;

use crate::store::*;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, Executor as _};
use tempfile::TempDir;

use super::SqliteStore;

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    (folder, file)
}

fn row(id: &str, bytes: usize) -> AuditRow {
    AuditRow {
        arguments: "x".repeat(bytes),
        ..AuditRow::new(
            CallId::earlier("acme", id),
            "c1",
            "send_mail",
            Timestamp::default(),
        )
    }
}

/// Returns the ids of the stored rows.
async fn ids(store: &SqliteStore) -> Vec<String> {
    let rows = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    rows.iter()
        .map(|row| row.identity.key().to_string())
        .collect()
}

/// Asserts that a change failed with an error that can be retried, and that its text contains `words`.
fn is_unavailable<T: std::fmt::Debug>(answer: Result<T, StoreError>, words: &str) {
    match answer {
        Err(error @ StoreError::Unavailable(_)) => {
            let text = error.to_string();
            assert!(text.contains(words), "`{text}` does not contain `{words}`");
        }
        other => panic!("expected that the store is unavailable, got {other:?}"),
    }
}

/// Limits the growth of the database to two more pages.
pub(super) async fn stop_growth(store: &SqliteStore) {
    let stopped = store.change(|db| {
        Box::pin(async move {
            let pages: i64 = sqlx::query_scalar("PRAGMA page_count")
                .fetch_one(&mut *db)
                .await?;
            let limit = sqlx::AssertSqlSafe(format!("PRAGMA max_page_count = {}", pages + 2));
            db.execute(limit).await?;
            Ok(())
        })
    });
    stopped.await.unwrap();
}

/// Removes the limit. Only a database in memory needs this, because its connection is not replaced.
async fn lift(store: &SqliteStore) {
    let lifted = store.change(|db| {
        Box::pin(async move {
            db.execute("PRAGMA max_page_count = 1000000").await?;
            Ok(())
        })
    });
    lifted.await.unwrap();
}

// A full disk does not prevent later writes.
#[tokio::test]
async fn full_database_accepts_writes_after_space_is_freed() {
    let (_folder, file) = folder();
    for store in [
        SqliteStore::open(&file).await.unwrap(),
        SqliteStore::in_memory().await.unwrap(),
    ] {
        store.write(vec![row("before", 10)]).await.unwrap();
        for _ in 0..3 {
            stop_growth(&store).await;
            // The first row is written before the second row exceeds the limit.
            let refused = store.write(vec![row("half", 10), row("large", 3_000_000)]);
            is_unavailable(refused.await, "full");
            assert_eq!(ids(&store).await, ["before"]);
        }
        lift(&store).await;
        store.write(vec![row("later", 3_000_000)]).await.unwrap();
        assert_eq!(ids(&store).await, ["before", "later"]);
    }
}

// A change fails if a different connection holds the write lock past the timeout, and the next change succeeds.
#[tokio::test(flavor = "multi_thread")]
async fn locked_database_accepts_writes_after_the_unlock() {
    let (_folder, file) = folder();
    let store = SqliteStore::open_with(&file, Duration::from_millis(200))
        .await
        .unwrap();
    let other = SqliteConnectOptions::new().filename(&file);
    let mut other = other.connect().await.unwrap();
    let lock = other.begin_with("BEGIN IMMEDIATE").await.unwrap();
    for _ in 0..2 {
        is_unavailable(store.write(vec![row("a", 10)]).await, "lock");
        assert!(ids(&store).await.is_empty());
    }
    lock.rollback().await.unwrap();
    store.write(vec![row("a", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["a"]);
}

fn rename(from: &Path, to: &Path) {
    for suffix in ["", "-wal", "-shm"] {
        let at = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        if at(from).exists() {
            std::fs::rename(at(from), at(to)).unwrap();
        }
    }
}

// The store neither writes to nor creates a missing database, and uses it again once it is back.
#[tokio::test]
async fn restored_database_file_is_used_again() {
    let (folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    store.write(vec![row("a", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["a"]);
    let aside = folder.path().join("aside.db");
    rename(&file, &aside);
    for _ in 0..2 {
        is_unavailable(store.write(vec![row("lost", 10)]).await, "state.db");
        let listed = store.export(Scope::All, &AuditFilter::default()).await;
        is_unavailable(listed, "cannot be opened");
        assert!(!file.exists(), "an empty database was created");
    }
    rename(&aside, &file);
    assert_eq!(ids(&store).await, ["a"]);
    store.write(vec![row("b", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["a", "b"]);
}

// A change is not reported as done if the file disappears during it.
#[tokio::test]
async fn change_whose_database_is_moved_is_rolled_back() {
    let (folder, file) = folder();
    let store = SqliteStore::open(&file).await.unwrap();
    let aside = folder.path().join("aside.db");
    let (from, to) = (file.clone(), aside.clone());
    let committed = store.change(move |db| {
        Box::pin(async move {
            super::audit::save(db, &row("a", 10)).await?;
            rename(&from, &to);
            Ok(())
        })
    });
    is_unavailable(committed.await.map_err(StoreError::from), "rolled back");
    rename(&aside, &file);
    assert!(ids(&store).await.is_empty());
    store.write(vec![row("b", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["b"]);
}

// The store reads and writes a replaced database, and refuses a file that is not a store of this version.
#[tokio::test]
async fn replaced_database_is_used_if_it_is_a_valid_store() {
    let (folder, file) = folder();
    let copy = folder.path().join("copy.db");
    let made = SqliteStore::open(&copy).await.unwrap();
    made.write(vec![row("copied", 10)]).await.unwrap();
    made.close().await;

    let store = SqliteStore::open(&file).await.unwrap();
    store.write(vec![row("a", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["a"]);
    let aside = folder.path().join("aside.db");
    rename(&file, &aside);
    rename(&copy, &file);
    store.write(vec![row("b", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["b", "copied"]);

    rename(&file, &copy);
    std::fs::write(&file, "").unwrap();
    is_unavailable(store.write(vec![row("c", 10)]).await, "state.db");
    std::fs::write(&file, "This is a text, not a database. ".repeat(200)).unwrap();
    is_unavailable(store.write(vec![row("c", 10)]).await, "not a database");
    std::fs::remove_file(&file).unwrap();
    rename(&copy, &file);
    store.write(vec![row("c", 10)]).await.unwrap();
    assert_eq!(ids(&store).await, ["b", "c", "copied"]);
}

// Removing the write-ahead log of an open store loses no stored row.
#[tokio::test]
async fn stored_rows_survive_the_removal_of_the_log() {
    for suffix in ["-wal", "-shm"] {
        let (_folder, file) = folder();
        let store = SqliteStore::open(&file).await.unwrap();
        store.write(vec![row("a", 10)]).await.unwrap();
        std::fs::remove_file(format!("{}{suffix}", file.display())).unwrap();
        store.write(vec![row("b", 10)]).await.unwrap();
        assert_eq!(ids(&store).await, ["a", "b"], "{suffix}");
        store.close().await;
        let store = SqliteStore::open(&file).await.unwrap();
        assert_eq!(ids(&store).await, ["a", "b"], "{suffix}");
    }
}

// A change whose caller is dropped at any point is written completely or not at all, and the next change succeeds.
#[tokio::test(flavor = "multi_thread")]
async fn dropped_change_is_written_completely_or_not_at_all() {
    let (_folder, file) = folder();
    for store in [
        SqliteStore::open(&file).await.unwrap(),
        SqliteStore::in_memory().await.unwrap(),
    ] {
        let (mut ended, mut dropped) = (0, 0);
        // The number of polls of a change depends on the speed of the connection's thread.
        for round in 0..150_usize {
            let polls = round % 30;
            let (one, two) = (format!("{round} one"), format!("{round} two"));
            let mut change = store.write(vec![row(&one, 10), row(&two, 10)]);
            let mut left = polls;
            let answer = std::future::poll_fn(|cx| {
                if left == 0 {
                    return Poll::Ready(None);
                }
                left -= 1;
                change.as_mut().poll(cx).map(Some)
            });
            match answer.await {
                Some(answer) => {
                    answer.unwrap();
                    ended += 1;
                }
                None => dropped += 1,
            }
            drop(change);
            store.write(vec![row("next", 10)]).await.unwrap();
            let stored = ids(&store).await;
            assert_eq!(stored.contains(&one), stored.contains(&two), "{polls}");
        }
        assert!(ended > 0 && dropped > 0, "{ended} ended, {dropped} did not");
    }
}
