//! Audit rows.

use tool_core::store::*;

use crate::records::{at, audit};
use crate::{at_once, both};

async fn ids(store: &impl AuditSink, filter: &AuditFilter) -> Vec<String> {
    let rows = store.export(filter).await.unwrap();
    rows.into_iter().map(|row| row.id).collect()
}

both! {
    #[test]
    async fn rows_come_back_whole(store: impl AuditSink) {
        let bare = AuditRow { id: "b".into(), started: at(101), ..AuditRow::default() };
        store.write(vec![audit("a"), bare.clone()]).await.unwrap();
        store.write(vec![]).await.unwrap();
        assert_eq!(store.export(&AuditFilter::default()).await.unwrap(), [audit("a"), bare]);
    }

    // A call has one row, however often it is written.
    #[test]
    async fn a_call_has_one_row(store: impl AuditSink) {
        let running = AuditRow { outcome: None, duration_us: None, ..audit("a") };
        let ended = AuditRow { started: at(90), ..audit("a") };
        store.write(vec![running.clone()]).await.unwrap();
        store.write(vec![running, ended.clone()]).await.unwrap();
        store.write(vec![ended.clone()]).await.unwrap();
        assert_eq!(store.export(&AuditFilter::default()).await.unwrap(), [ended]);
        let before = AuditFilter { since: Some(at(95)), ..AuditFilter::default() };
        assert_eq!(ids(&store, &before).await, Vec::<String>::new());
    }

    // S1-25: calls of one tool that run at once keep their own durations.
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
        let rows = store.export(&AuditFilter::default()).await.unwrap();
        let kept: Vec<_> = rows.into_iter().map(|row| (row.id, row.duration_us)).collect();
        let own: Vec<_> = (0..32).map(|task| (format!("call {task:02}"), Some(task))).collect();
        assert_eq!(kept, own);
    }

    #[test]
    async fn exports_are_narrowed_and_in_order(store: impl AuditSink) {
        let rows = vec![
            AuditRow { started: at(300), ..audit("c") },
            AuditRow { started: at(200), tool: "wipe".into(), ..audit("b") },
            AuditRow { started: at(200), tenant: Some("umbrella".into()), ..audit("a") },
            AuditRow { started: at(100), principal: None, ..audit("d") },
        ];
        store.write(rows).await.unwrap();
        let none = AuditFilter::default();
        for (filter, expected) in [
            (none.clone(), vec!["d", "a", "b", "c"]),
            (AuditFilter { tenant: Some("acme".into()), ..none.clone() }, vec!["d", "b", "c"]),
            (AuditFilter { principal: Some("ann".into()), ..none.clone() }, vec!["a", "b", "c"]),
            (AuditFilter { tool: Some("wipe".into()), ..none.clone() }, vec!["b"]),
            (AuditFilter { call: Some("call of c".into()), ..none.clone() }, vec!["c"]),
            (AuditFilter { since: Some(at(200)), ..none.clone() }, vec!["a", "b", "c"]),
            (AuditFilter { until: Some(at(200)), ..none.clone() }, vec!["d"]),
            (AuditFilter { since: Some(at(200)), until: Some(at(300)), ..none.clone() }, vec!["a", "b"]),
            (AuditFilter { limit: Some(2), ..none.clone() }, vec!["d", "a"]),
        ] {
            assert_eq!(ids(&store, &filter).await, expected);
        }
    }

    #[test]
    async fn one_users_rows_are_erased(store: impl AuditSink) {
        let rows = vec![
            audit("a"),
            audit("b"),
            AuditRow { principal: Some("bob".into()), ..audit("c") },
            AuditRow { tenant: Some("umbrella".into()), ..audit("d") },
            AuditRow { tenant: None, principal: None, ..audit("e") },
        ];
        store.write(rows).await.unwrap();
        assert_eq!(store.erase("acme", "ann").await.unwrap(), 2);
        assert_eq!(ids(&store, &AuditFilter::default()).await, ["c", "d", "e"]);
        assert_eq!(store.erase("acme", "ann").await.unwrap(), 0);
        store.write(vec![audit("a")]).await.unwrap();
        assert_eq!(ids(&store, &AuditFilter::default()).await, ["a", "c", "d", "e"]);
    }

    #[test]
    async fn old_rows_go(store: impl AuditSink) {
        let rows = (1..=3).map(|n| AuditRow { started: at(n), ..audit(&n.to_string()) });
        store.write(rows.collect()).await.unwrap();
        assert_eq!(store.retain(at(2)).await.unwrap(), 1);
        assert_eq!(ids(&store, &AuditFilter::default()).await, ["2", "3"]);
    }
}
