//! Tests of query plans, indexes and connection settings.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::store::{
    ApprovalFilter, ApprovalKind, ApprovalStatus, AuditFilter, AuditRow, AuditSink as _, CallId,
    CallKey, EffectFilter, EffectState, EnablementFilter, Erasure, InstanceId, KeyId, Reseal,
    RunCursor, RunFilter, RunId, Scope, Sealed, SealedColumn, SealedPlace, SealedRow, SwitchFilter,
    SwitchKey, SwitchKind, ThreadId, Timestamp, Workspace,
};
use sqlx::{AssertSqlSafe, QueryBuilder, Row as _, Sqlite};

use super::{SqliteStore, approval, audit, enablement, ledger, maintenance, run, sealed, switch};

/// Returns the query plan of a statement.
pub(super) async fn plan(store: &SqliteStore, sql: &str) -> String {
    let explained = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
    let rows = sqlx::query(explained)
        .fetch_all(&store.readers)
        .await
        .unwrap();
    let steps: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
    steps.join("; ")
}

/// Asserts that a statement finds its rows in an index, and does not sort them.
async fn is_narrowed(store: &SqliteStore, sql: &str) {
    let plan = plan(store, sql).await;
    assert!(
        plan.contains("SEARCH") && !plan.contains("SCAN"),
        "{sql}: {plan}"
    );
    assert!(!plan.contains("TEMP B-TREE"), "{sql}: {plan}");
}

// The ledger looks up the effect of a call twice, so the cost must not depend on the number of effects.
#[tokio::test]
async fn effect_of_a_key_is_found_by_both_columns_of_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let plan = plan(&store, ledger::FIND).await;
    assert!(!plan.contains("SCAN effect"), "{plan}");
    for index in ["(workspace=? AND key=?)", "(workspace=? AND earlier=?)"] {
        assert!(plan.contains(index), "{plan}");
    }
}

#[tokio::test]
async fn run_lists_use_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let own = Workspace::new("x");
    let after = RunCursor {
        started: Timestamp::from_millis(1),
        id: RunId::new(ThreadId::new("x", "x").unwrap(), 1),
    };
    for (scope, conversation) in [
        (Scope::All, None),
        (Scope::Workspace(&own), None),
        (Scope::Workspace(&own), Some("x".to_owned())),
    ] {
        let filter = RunFilter {
            conversation,
            after: Some(after.clone()),
            ..RunFilter::default()
        };
        is_narrowed(&store, run::listing(scope, &filter).sql().as_str()).await;
    }
    is_narrowed(&store, run::FIND_RUNNING).await;
    is_narrowed(&store, run::FIND).await;
}

#[tokio::test]
async fn every_list_filter_uses_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let text = || Some("x".to_owned());
    let own = Workspace::new("x");
    let own = Scope::Workspace(&own);
    let none = ApprovalFilter::default();
    for filter in [
        none.clone(),
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
            key: text(),
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
            kind: Some(ApprovalKind::Call),
            after: Some((Timestamp::default(), String::new())),
            limit: Some(10),
            ..none
        },
    ] {
        is_narrowed(&store, approval::listing(own, &filter).sql().as_str()).await;
    }
    for filter in [
        ApprovalFilter {
            status: Some(ApprovalStatus::Pending),
            ..ApprovalFilter::default()
        },
        ApprovalFilter {
            after: Some((Timestamp::default(), String::new())),
            ..ApprovalFilter::default()
        },
    ] {
        is_narrowed(
            &store,
            approval::listing(Scope::All, &filter).sql().as_str(),
        )
        .await;
    }

    let none = AuditFilter::default();
    let time = Some(Timestamp::default());
    for filter in [
        none.clone(),
        AuditFilter {
            principal: text(),
            since: time,
            ..none.clone()
        },
        AuditFilter {
            call: text(),
            ..none.clone()
        },
        AuditFilter {
            since: time,
            until: time,
            ..none.clone()
        },
    ] {
        is_narrowed(&store, audit::listing(own, &filter).sql().as_str()).await;
    }
    let recent = AuditFilter {
        since: time,
        ..none
    };
    is_narrowed(&store, audit::listing(Scope::All, &recent).sql().as_str()).await;

    let state = Some(EffectState::Ambiguous);
    let none = EffectFilter::default();
    let in_state = EffectFilter {
        state,
        ..none.clone()
    };
    for (scope, filter) in [(own, &none), (Scope::All, &in_state), (own, &in_state)] {
        is_narrowed(&store, ledger::listing(scope, filter).sql().as_str()).await;
    }
}

#[tokio::test]
async fn unfiltered_lists_are_read_in_index_order() {
    let store = SqliteStore::in_memory().await.unwrap();
    let everything: [QueryBuilder<_>; 3] = [
        approval::listing(Scope::All, &ApprovalFilter::default()),
        audit::listing(Scope::All, &AuditFilter::default()),
        ledger::listing(Scope::All, &EffectFilter::default()),
    ];
    for query in everything {
        let plan = plan(&store, query.sql().as_str()).await;
        assert!(
            plan.contains("USING INDEX") && !plan.contains("TEMP B-TREE"),
            "{plan}"
        );
    }
}

// The list of one tool in all workspaces has no index of its own. It is read in order of time, and stops at its limit.
#[tokio::test]
async fn list_of_one_tool_is_read_by_time() {
    let store = SqliteStore::in_memory().await.unwrap();
    let filter = AuditFilter {
        tool: Some("x".to_owned()),
        limit: Some(10),
        ..AuditFilter::default()
    };
    let plan = plan(&store, audit::listing(Scope::All, &filter).sql().as_str()).await;
    assert!(plan.contains("USING INDEX audit_by_time"), "{plan}");
    assert!(!plan.contains("TEMP B-TREE"), "{plan}");
}

// Each index of the audit table is used by some statement. An unused index would only cost writes.
#[tokio::test]
async fn every_audit_index_is_used_by_a_statement() {
    let store = SqliteStore::in_memory().await.unwrap();
    let text = || Some("x".to_owned());
    let none = AuditFilter::default();
    let own = Workspace::new("x");
    let own = Scope::Workspace(&own);
    let principal = AuditFilter {
        principal: text(),
        ..none.clone()
    };
    let call = AuditFilter {
        call: text(),
        ..none.clone()
    };
    let thread = AuditFilter {
        thread: text(),
        ..none.clone()
    };
    let outcome = AuditFilter {
        outcome: Some("failed".to_owned()),
        ..none.clone()
    };
    let failed = AuditFilter {
        failed: true,
        ..none.clone()
    };
    let tool = AuditFilter {
        tool: text(),
        ..none.clone()
    };
    let decision = AuditFilter {
        decision: text(),
        ..none.clone()
    };
    let served = [
        ("audit_by_time", audit::listing(Scope::All, &none)),
        ("audit_by_tool", audit::listing(own, &tool)),
        ("audit_by_decision", audit::listing(own, &decision)),
        ("audit_by_workspace", audit::listing(own, &none)),
        ("audit_by_principal", audit::listing(own, &principal)),
        ("audit_by_call", audit::listing(own, &call)),
        ("audit_by_thread", audit::listing(own, &thread)),
        ("audit_by_outcome", audit::listing(own, &outcome)),
        ("audit_by_failure", audit::listing(own, &failed)),
    ];
    for (index, query) in &served {
        let plan = plan(&store, query.sql().as_str()).await;
        assert!(plan.contains(index), "{index}: {plan}");
    }
    let indexes = "SELECT name FROM pragma_index_list('audit') WHERE origin = 'c' ORDER BY name";
    let indexes: Vec<String> = sqlx::query_scalar(indexes)
        .fetch_all(&store.readers)
        .await
        .unwrap();
    let mut names: Vec<&str> = served.iter().map(|(index, _)| *index).collect();
    names.sort_unstable();
    assert_eq!(indexes, names);
}

// An audit row, written when its call begins and when it ends, costs less than 70 KB of write-ahead log, including its two events.
#[tokio::test]
async fn audit_row_costs_few_pages() {
    const CALLS: u64 = 50;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("state.db");
    let store = SqliteStore::open(&file).await.unwrap();
    let thread = ThreadId::new("acme", "main").unwrap();
    let row = |n: u64, outcome: Option<&str>| AuditRow {
        call: format!("{:016x}", (n + 1).wrapping_mul(0xc2b2_ae3d_27d4_eb4f)),
        principal: Some(format!("user {}", n % 50)),
        arguments: "x".repeat(900),
        outcome: outcome.map(str::to_owned),
        ..AuditRow::new(
            CallId::in_thread(&thread, n + 1, 0),
            "",
            "send_mail",
            Timestamp::from_millis(n.cast_signed()),
        )
    };
    for part in 0..20 {
        let rows = (part * 200..(part + 1) * 200).map(|n| row(n, Some("ok")));
        store.write(rows.collect()).await.unwrap();
    }
    let log = std::path::PathBuf::from(format!("{}-wal", file.display()));
    store.forget().await.unwrap();
    assert_eq!(std::fs::metadata(&log).unwrap().len(), 0);
    for n in 4_000..4_000 + CALLS {
        store.write(vec![row(n, None)]).await.unwrap();
        store.write(vec![row(n, Some("ok"))]).await.unwrap();
    }
    let bytes = std::fs::metadata(&log).unwrap().len() / CALLS;
    assert!(bytes < 70_000, "{bytes} bytes for the row of one call");
}

#[tokio::test]
async fn expiry_queries_use_a_time_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let (own, now) = (Workspace::new("x"), Timestamp::default());
    for scope in [Scope::All, Scope::Workspace(&own)] {
        for query in [
            approval::expiry(scope, now),
            approval::expired(scope, now),
            ledger::sweeping(scope, now),
            ledger::lapsed(scope, now),
            audit::retention(scope, now, 7),
            super::spill::expiry(scope, now),
        ] {
            is_narrowed(&store, query.sql().as_str()).await;
        }
    }
    is_narrowed(&store, audit::ERASE).await;
}

// Pages are read in order from an index, in both directions, without filters and with one filter.
#[tokio::test]
#[expect(clippy::too_many_lines, reason = "a table of filters")]
async fn every_page_is_read_from_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let text = || Some("x".to_owned());
    let own = Workspace::new("x");
    let after = Some((Timestamp::default(), CallKey::new("x", "x")));
    for scope in [Scope::All, Scope::Workspace(&own)] {
        for newest_first in [true, false] {
            let page = AuditFilter {
                limit: Some(10),
                newest_first,
                after: after.clone(),
                ..AuditFilter::default()
            };
            let audits = [
                page.clone(),
                AuditFilter {
                    thread: text(),
                    ..page.clone()
                },
                AuditFilter {
                    outcome: Some("ok".into()),
                    ..page.clone()
                },
                AuditFilter {
                    outcome: Some("failed".into()),
                    ..page.clone()
                },
                AuditFilter {
                    decision: text(),
                    ..page.clone()
                },
                AuditFilter {
                    tool: text(),
                    ..page.clone()
                },
                AuditFilter {
                    principal: text(),
                    ..page.clone()
                },
                AuditFilter {
                    since: Some(Timestamp::default()),
                    ..page
                },
            ];
            let page = EffectFilter {
                limit: Some(10),
                newest_first,
                after: after.clone(),
                ..EffectFilter::default()
            };
            let states = EffectState::ALL.iter();
            let effects: Vec<EffectFilter> = states
                .map(|state| EffectFilter {
                    state: Some(*state),
                    ..page.clone()
                })
                .chain([
                    page.clone(),
                    EffectFilter {
                        tool: text(),
                        ..page.clone()
                    },
                    EffectFilter {
                        principal: text(),
                        ..page.clone()
                    },
                    EffectFilter {
                        thread: text(),
                        ..page.clone()
                    },
                ])
                .collect();
            let page = ApprovalFilter {
                limit: Some(10),
                newest_first,
                after: Some((Timestamp::default(), "x".to_owned())),
                ..ApprovalFilter::default()
            };
            let approvals = [
                page.clone(),
                ApprovalFilter {
                    status: Some(ApprovalStatus::Pending),
                    ..page.clone()
                },
                ApprovalFilter {
                    principal: text(),
                    ..page.clone()
                },
                ApprovalFilter {
                    thread: text(),
                    ..page
                },
            ];
            let queries = audits
                .iter()
                .map(|filter| audit::listing(scope, filter))
                .chain(effects.iter().map(|filter| ledger::listing(scope, filter)))
                .chain(
                    approvals
                        .iter()
                        .map(|filter| approval::listing(scope, filter)),
                );
            for query in queries {
                is_narrowed(&store, query.sql().as_str()).await;
            }
        }
    }
}

// Erasure and retention read only the rows that they change. Only the erasure of a user's effects reads all effects of the workspace.
#[tokio::test]
async fn erase_and_purge_use_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let own = Workspace::new("x");
    let main = ThreadId::new("x", "main").unwrap();
    let thread = Erasure::Thread(&main);
    let principal = Erasure::Principal {
        workspace: &own,
        principal: "x",
    };
    let since = Timestamp::default();
    for query in [
        maintenance::effects(thread),
        maintenance::effects(principal),
        maintenance::approvals(thread),
        maintenance::approvals(principal),
        maintenance::old_effects(since, 10),
        maintenance::old_approvals(since, 10),
        audit::retention(Scope::All, since, 10),
        maintenance::old_spills(since, 10),
        maintenance::old_runs(since, 10),
    ] {
        is_narrowed(&store, query.sql().as_str()).await;
    }
}

// Every call reads the switches, and finds them with an index among many enablement rows.
#[tokio::test]
async fn switches_are_found_by_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let own = Workspace::new("x");
    let after = SwitchKey {
        workspace: None,
        kind: SwitchKind::Kill,
        tool: "x".to_owned(),
        source: String::new(),
    };
    let page = SwitchFilter {
        limit: Some(10),
        after: Some(after),
        ..SwitchFilter::default()
    };
    let own = Scope::Workspace(&own);
    for query in [
        switch::listing(own, &SwitchFilter::default()),
        switch::listing(own, &page),
        switch::listing(Scope::All, &page),
    ] {
        is_narrowed(&store, query.sql().as_str()).await;
    }
    let own_and_all = plan(&store, switch::ENABLEMENT).await;
    assert!(!own_and_all.contains("SCAN"), "{own_and_all}");
    assert!(!own_and_all.contains("TEMP B-TREE"), "{own_and_all}");
    let plan_of_all = plan(&store, switch::IN_FORCE).await;
    assert!(
        plan_of_all.contains("switch_in_force") && !plan_of_all.contains("TEMP B-TREE"),
        "{plan_of_all}"
    );
    for scope in [Scope::All, own] {
        let query = switch::retirement(scope, Timestamp::default(), 1);
        let plan = plan(&store, query.sql().as_str()).await;
        assert!(!plan.contains("SCAN switch"), "{plan}");
    }
}

// An index finds rows without a call key, so that a start does not scan the table.
#[tokio::test]
async fn rows_without_a_key_are_found_by_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let plan = plan(&store, approval::WITHOUT_KEY).await;
    assert!(plan.contains("approval_without_key"), "{plan}");
}

/// Returns the value of a pragma on the connection of the writer, or on a connection of the readers.
async fn pragma(store: &SqliteStore, pragma: &str, writes: bool) -> String {
    let sql = if pragma == "busy_timeout" {
        AssertSqlSafe("SELECT CAST(timeout AS TEXT) FROM pragma_busy_timeout".to_owned())
    } else {
        AssertSqlSafe(format!(
            "SELECT CAST({pragma} AS TEXT) FROM pragma_{pragma}"
        ))
    };
    let query = sqlx::query_scalar(sql);
    if writes {
        let fetched = store.change(|db| Box::pin(async move { Ok(query.fetch_one(db).await?) }));
        fetched.await.unwrap()
    } else {
        query.fetch_one(&store.readers).await.unwrap()
    }
}

#[tokio::test]
async fn every_connection_has_the_configured_pragmas() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("state.db"))
        .await
        .unwrap();
    for (name, value) in [
        ("synchronous", "2"),
        ("foreign_keys", "1"),
        ("secure_delete", "1"),
        ("journal_mode", "wal"),
        ("busy_timeout", "30000"),
    ] {
        for writes in [true, false] {
            assert_eq!(pragma(&store, name, writes).await, value, "{name}");
        }
    }
}

// At least the second database is a copy of an image with all migrations.
#[tokio::test]
async fn every_database_in_memory_has_the_configured_pragmas() {
    for _ in 0..2 {
        let store = SqliteStore::in_memory().await.unwrap();
        for (name, value) in [
            ("foreign_keys", "1"),
            ("secure_delete", "1"),
            ("journal_mode", "memory"),
            ("busy_timeout", "30000"),
        ] {
            assert_eq!(pragma(&store, name, true).await, value, "{name}");
        }
    }
}

#[tokio::test]
async fn enablement_queries_use_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let own = Workspace::new("x");
    let after = Some((InstanceId::new("x", "x"), "x".to_owned()));
    for (scope, instance) in [
        (Scope::All, None),
        (Scope::Workspace(&own), None),
        (Scope::Workspace(&own), Some("x".to_owned())),
    ] {
        let filter = EnablementFilter {
            instance,
            after: after.clone(),
            ..EnablementFilter::default()
        };
        is_narrowed(&store, enablement::listing(scope, &filter).sql().as_str()).await;
    }
    is_narrowed(&store, enablement::ROWS).await;
    is_narrowed(&store, enablement::OF_TOOL).await;
    is_narrowed(&store, enablement::CHANGED).await;
    for sql in [enablement::REQUIRED_BY, enablement::REQUIRING] {
        let plan = plan(&store, sql).await;
        let scans = plan.split("; ").filter(|step| step.contains("SCAN"));
        // SQLite scans the list that a subquery returns, but not a table.
        let tables = scans.filter(|step| !step.contains("SUBQUERY") && !step.contains("CONSTANT"));
        assert_eq!(tables.count(), 0, "{sql}: {plan}");
    }
    // The cascade of a removed tool finds its rows without a scan.
    let cascade = "SELECT rowid FROM enablement WHERE entry = ?";
    is_narrowed(&store, cascade).await;
}

// Rotation finds and replaces the values of each sealed column by an index.
#[tokio::test]
async fn rotation_uses_an_index() {
    let store = SqliteStore::in_memory().await.unwrap();
    let key = KeyId::new("k1").unwrap();
    for column in SealedColumn::ALL {
        let place = SealedPlace {
            column: *column,
            workspace: Workspace::new("x"),
            id: "x:1".to_owned(),
            owner: String::new(),
        };
        for after in [None, Some(&place)] {
            let list = crate::sql::sealed::listing::<Sqlite>(*column, &key, after, 10);
            is_narrowed(&store, list.query.sql().as_str()).await;
        }
        let new = Sealed::new(&key, &[0; Sealed::NONCE], &[0; Sealed::TAG]);
        let bytes = new.as_bytes().into();
        let old = SealedRow { place, bytes };
        let swap = sealed::swap(Reseal { old, new });
        let plan = plan(&store, swap.sql().as_str()).await;
        assert!(plan.contains("SEARCH t USING"), "{plan}");
    }
}
