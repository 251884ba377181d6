//! Tests of audit rows.

use crate::*;

use super::records::{acme, at, audit, key_of, named, named_in};
use super::{at_once, tests};

async fn ids(store: &impl AuditSink, filter: &AuditFilter) -> Vec<String> {
    let rows = store.export(Scope::All, filter).await.unwrap();
    rows.iter().map(key_of).collect()
}

tests! {
    ($) __suite_audit in audit for Store;

    #[test]
    async fn rows_round_trip(store: impl AuditSink) {
        let bare = AuditRow::new(named("b"), "", "", at(101));
        store.write(vec![audit("a"), bare.clone()]).await.unwrap();
        store.write(vec![]).await.unwrap();
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap(), [audit("a"), bare]);
    }

    // A call that is written several times has one row.
    #[test]
    async fn a_call_has_one_row(store: impl AuditSink) {
        let running = AuditRow { outcome: None, duration_us: None, ..audit("a") };
        let ended = AuditRow { started: at(90), ..audit("a") };
        store.write(vec![running.clone()]).await.unwrap();
        store.write(vec![running, ended.clone()]).await.unwrap();
        store.write(vec![ended.clone()]).await.unwrap();
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap(), [ended]);
        let before = AuditFilter { since: Some(at(95)), ..AuditFilter::default() };
        assert_eq!(ids(&store, &before).await, Vec::<String>::new());
    }

    // An audit row with a final outcome is never replaced.
    #[test]
    async fn a_final_row_is_kept(store: impl AuditSink) {
        let row = |name: &str, outcome: Option<&str>, minute| AuditRow {
            outcome: outcome.map(str::to_owned),
            started: at(minute),
            ..audit(name)
        };
        let open = [None, Some("pending"), Some("unavailable"), Some("interrupted")];
        let ends = ["ok", "failed", "denied", "cancelled", "timed_out", "invalid_arguments", "unknown_tool"];
        let mut expected = Vec::new();
        for (at, before) in open.into_iter().enumerate() {
            for end in ends {
                let name = format!("{at} {end}");
                store.write(vec![row(&name, before, 100)]).await.unwrap();
                store.write(vec![row(&name, Some(end), 90)]).await.unwrap();
                expected.push(row(&name, Some(end), 90));
            }
        }
        expected.sort_by_key(key_of);
        for late in open.into_iter().chain(ends.map(Some)) {
            let rows = expected.iter().map(|kept| row(&key_of(kept), late, 110));
            store.write(rows.clone().collect()).await.unwrap();
            for row in rows {
                store.write(vec![row]).await.unwrap();
            }
        }
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap(), expected);
    }

    // A later row of the same call does not replace a final row, even if both are in one write.
    #[test]
    async fn a_final_row_is_kept_within_one_write(store: impl AuditSink) {
        let row = |outcome: &str| AuditRow { outcome: Some(outcome.into()), ..audit("a") };
        let rows = ["pending", "interrupted", "ok", "failed", "pending", "ok"].map(row);
        let other = AuditRow { identity: named_in("umbrella", "a"), ..row("denied") };
        store.write([vec![other.clone()], rows.to_vec()].concat()).await.unwrap();
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap(), [row("ok"), other]);
    }

    // S1-25: parallel calls of one tool each have their own duration.
    #[test]
    async fn calls_at_once_keep_their_own_durations(store: impl AuditSink + Clone) {
        at_once(|task| {
            let store = store.clone();
            async move {
                let row = AuditRow { outcome: None, duration_us: None, ..audit(&format!("call {task:02}")) };
                store.write(vec![row.clone()]).await.unwrap();
                tokio::task::yield_now().await;
                store.write(vec![AuditRow { duration_us: Some(task.into()), ..row }]).await.unwrap();
            }
        }).await;
        let rows = store.export(Scope::All, &AuditFilter::default()).await.unwrap();
        let kept: Vec<_> = rows.into_iter().map(|row| (key_of(&row), row.duration_us)).collect();
        let own: Vec<_> = (0..32).map(|task| (format!("call {task:02}"), Some(task))).collect();
        assert_eq!(kept, own);
    }

    #[test]
    async fn exports_are_narrowed_and_in_order(store: impl AuditSink) {
        let rows = vec![
            AuditRow { started: at(300), ..audit("c") },
            AuditRow { started: at(200), tool: "wipe".into(), ..audit("b") },
            AuditRow { started: at(200), identity: named_in("umbrella", "a"), ..audit("a") },
            AuditRow { started: at(100), principal: None, ..audit("d") },
        ];
        store.write(rows).await.unwrap();
        let none = AuditFilter::default();
        for (filter, expected) in [
            (none.clone(), vec!["d", "b", "a", "c"]),
            (AuditFilter { principal: Some("ann".into()), ..none.clone() }, vec!["b", "a", "c"]),
            (AuditFilter { tool: Some("wipe".into()), ..none.clone() }, vec!["b"]),
            (AuditFilter { call: Some("call of c".into()), ..none.clone() }, vec!["c"]),
            (AuditFilter { since: Some(at(200)), ..none.clone() }, vec!["b", "a", "c"]),
            (AuditFilter { until: Some(at(200)), ..none.clone() }, vec!["d"]),
            (AuditFilter { since: Some(at(200)), until: Some(at(300)), ..none.clone() }, vec!["b", "a"]),
            (AuditFilter { limit: Some(2), ..none.clone() }, vec!["d", "b"]),
        ] {
            assert_eq!(ids(&store, &filter).await, expected);
        }
        for (workspace, expected) in [("acme", vec!["d", "b", "c"]), ("umbrella", vec!["a"])] {
            let rows = store.export(Scope::Workspace(&Workspace::new(workspace)), &none).await.unwrap();
            assert_eq!(rows.iter().map(key_of).collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    async fn rows_of_one_user_are_erased(store: impl AuditSink) {
        let rows = vec![
            audit("a"),
            audit("b"),
            AuditRow { principal: Some("bob".into()), ..audit("c") },
            AuditRow { identity: named_in("umbrella", "d"), ..audit("d") },
            AuditRow { identity: named_in("", "e"), principal: None, ..audit("e") },
        ];
        store.write(rows).await.unwrap();
        assert_eq!(store.erase(&acme(), "ann").await.unwrap(), 2);
        assert_eq!(ids(&store, &AuditFilter::default()).await, ["e", "c", "d"]);
        assert_eq!(store.erase(&acme(), "ann").await.unwrap(), 0);
        store.write(vec![audit("a")]).await.unwrap();
        assert_eq!(ids(&store, &AuditFilter::default()).await, ["e", "a", "c", "d"]);
    }

    // An operator cannot erase the record of their own changes.
    #[test]
    async fn changes_of_operators_are_not_erased(store: impl AuditSink) {
        let change = AuditRow::of_operator(acme(), "ann", "secret.write", "{}", at(1)).unwrap();
        assert!(change.is_of_operator() && !audit("a").is_of_operator());
        store.write(vec![audit("a"), change.clone()]).await.unwrap();
        assert_eq!(store.erase(&acme(), "ann").await.unwrap(), 1);
        let left = store.export(Scope::All, &AuditFilter::default()).await.unwrap();
        assert_eq!(left, [change]);
    }

    #[test]
    async fn old_audit_rows_are_deleted(store: impl AuditSink) {
        let rows = (1..=3).map(|n| AuditRow { started: at(n), ..audit(&n.to_string()) });
        store.write(rows.collect()).await.unwrap();
        assert_eq!(store.retain(Scope::All, at(2)).await.unwrap(), 1);
        assert_eq!(ids(&store, &AuditFilter::default()).await, ["2", "3"]);
    }
}
