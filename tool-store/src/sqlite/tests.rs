//! What the statements and connections are like inside.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sqlx::{AssertSqlSafe, QueryBuilder, Row as _};
use tool_core::store::{
    ApprovalFilter, ApprovalKind, ApprovalStatus, AuditFilter, EffectState, Timestamp,
};

use super::{SqliteStore, approval, audit, ledger};

/// How SQLite would find the rows of a statement.
async fn plan(store: &SqliteStore, sql: &str) -> String {
    let explained = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = sqlx::query(explained)
        .fetch_all(&store.readers)
        .await
        .unwrap();
    let steps: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
    steps.join("; ")
}

/// That an index narrows a statement to its rows, already in their order.
async fn is_narrowed(store: &SqliteStore, sql: &str) {
    let plan = plan(store, sql).await;
    assert!(
        plan.contains("SEARCH") && !plan.contains("SCAN"),
        "{sql}: {plan}"
    );
    assert!(!plan.contains("TEMP B-TREE"), "{sql}: {plan}");
}

#[tokio::test]
async fn every_way_to_narrow_a_list_has_its_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let text = || Some("x".to_owned());
    let none = ApprovalFilter::default();
    for filter in [
        ApprovalFilter {
            tenant: text(),
            ..none.clone()
        },
        ApprovalFilter {
            principal: text(),
            ..none.clone()
        },
        ApprovalFilter {
            assignee: text(),
            ..none.clone()
        },
        ApprovalFilter {
            tool: text(),
            ..none.clone()
        },
        ApprovalFilter {
            turn: text(),
            ..none.clone()
        },
        ApprovalFilter {
            thread: text(),
            ..none.clone()
        },
        ApprovalFilter {
            status: Some(ApprovalStatus::Pending),
            ..none.clone()
        },
        ApprovalFilter {
            after: Some((Timestamp::default(), String::new())),
            ..none.clone()
        },
        ApprovalFilter {
            tenant: text(),
            kind: Some(ApprovalKind::Call),
            after: Some((Timestamp::default(), String::new())),
            limit: Some(10),
            ..none
        },
    ] {
        is_narrowed(&store, approval::listing(&filter).sql().as_str()).await;
    }

    let none = AuditFilter::default();
    let time = Some(Timestamp::default());
    for filter in [
        AuditFilter {
            tenant: text(),
            ..none.clone()
        },
        AuditFilter {
            principal: text(),
            since: time,
            ..none.clone()
        },
        AuditFilter {
            tool: text(),
            ..none.clone()
        },
        AuditFilter {
            call: text(),
            ..none.clone()
        },
        AuditFilter {
            since: time,
            until: time,
            ..none
        },
    ] {
        is_narrowed(&store, audit::listing(&filter).sql().as_str()).await;
    }

    let state = Some(EffectState::Ambiguous);
    for (tenant, state) in [(Some("x"), None), (None, state), (Some("x"), state)] {
        is_narrowed(&store, ledger::listing(tenant, state).sql().as_str()).await;
    }
}

#[tokio::test]
async fn a_list_of_everything_is_read_in_order() {
    let store = SqliteStore::in_memory().await.unwrap();
    let everything: [QueryBuilder<_>; 3] = [
        approval::listing(&ApprovalFilter::default()),
        audit::listing(&AuditFilter::default()),
        ledger::listing(None, None),
    ];
    for query in everything {
        let plan = plan(&store, query.sql().as_str()).await;
        assert!(
            plan.contains("USING INDEX") && !plan.contains("TEMP B-TREE"),
            "{plan}"
        );
    }
}

#[tokio::test]
async fn what_time_removes_is_found_by_its_time() {
    let store = SqliteStore::in_memory().await.unwrap();
    for sql in [
        approval::EXPIRE,
        ledger::SWEEP,
        audit::ERASE,
        audit::RETAIN,
        super::spill::EXPIRE,
    ] {
        is_narrowed(&store, sql).await;
    }
}

#[tokio::test]
async fn every_connection_is_set_up() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("state.db"))
        .await
        .unwrap();
    for (pragma, value) in [
        ("synchronous", "2"),
        ("foreign_keys", "1"),
        ("secure_delete", "1"),
        ("journal_mode", "wal"),
        ("busy_timeout", "30000"),
    ] {
        for writes in [true, false] {
            let sql = AssertSqlSafe(format!(
                "SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}"
            ));
            let sql = if pragma == "busy_timeout" {
                AssertSqlSafe("SELECT CAST(timeout AS TEXT) FROM pragma_busy_timeout".to_owned())
            } else {
                sql
            };
            let query = sqlx::query_scalar(sql);
            let found: String = if writes {
                let mut change = store.change().await.unwrap();
                query.fetch_one(&mut *change).await.unwrap()
            } else {
                query.fetch_one(&store.readers).await.unwrap()
            };
            assert_eq!(found, value, "{pragma}");
        }
    }
}
