//! Tests of lists that are read page by page.

use crate::*;

use super::records::{acme, at, audit, end, intent, key, key_of, request};
use super::tests;

fn in_thread(name: &str, conversation: &str) -> Intent {
    Intent {
        thread: Some(conversation.to_owned()),
        ..intent(name)
    }
}

tests! {
    ($) __suite_paging in paging for Store;

    // Pages in both orders contain every row once, with the newest first even while rows are added. Filters narrow the list.
    #[test]
    async fn pages_of_effects_skip_and_repeat_nothing(store: impl EffectLedger) {
        for n in 0..9 {
            let intent = Intent { at: at(100 + n / 3), ..in_thread(&format!("{n}"), "main") };
            store.begin(intent, None).await.unwrap();
        }
        for newest_first in [true, false] {
            let mut filter = EffectFilter { limit: Some(2), newest_first, ..EffectFilter::default() };
            let mut read = Vec::new();
            loop {
                let page = store.page(Scope::All, &filter).await.unwrap();
                let Some(last) = page.last() else { break };
                filter.after = Some(last.place());
                read.extend(page);
                if newest_first {
                    let newer = Intent { at: at(900), ..intent(&format!("new {}", read.len())) };
                    store.begin(newer, None).await.unwrap();
                }
            }
            if newest_first {
                read.reverse();
            } else {
                read.retain(|row| row.intent.at < at(900));
            }
            let names: Vec<_> = read.iter().map(|row| row.intent.identity.key().as_str().to_owned()).collect();
            assert_eq!(names, ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
        }
        EffectLedger::end(&store, &key("3"), "run-1", end(EffectState::Failed, 300)).await.unwrap();
        let none = EffectFilter::default();
        for (filter, expected) in [
            (EffectFilter { state: Some(EffectState::Failed), ..none.clone() }, 1),
            (EffectFilter { thread: Some("main".into()), ..none.clone() }, 9),
            (EffectFilter { thread: Some("side".into()), ..none.clone() }, 0),
            (EffectFilter { tool: Some("wipe".into()), ..none.clone() }, 0),
            (EffectFilter { principal: Some("bob".into()), ..none }, 0),
        ] {
            assert_eq!(store.page(Scope::All, &filter).await.unwrap().len(), expected, "{filter:?}");
        }
    }

    // The audit is filtered by thread, outcome, decision and time, and read newest first or oldest first.
    #[test]
    async fn audit_pages_are_filtered_and_read_in_both_orders(store: impl AuditSink) {
        let row = |name: &str, minute, thread: &str, outcome: &str, decision: &str| AuditRow {
            started: at(minute),
            thread: Some(thread.to_owned()),
            outcome: Some(outcome.to_owned()),
            decision: Some(decision.to_owned()),
            ..audit(name)
        };
        let rows = vec![
            row("a", 100, "main", "ok", "d1"),
            row("b", 200, "main", "failed", "d1"),
            row("c", 200, "side", "ok", "d2"),
            row("d", 300, "main", "ok", "d2"),
        ];
        store.write(rows).await.unwrap();
        let none = AuditFilter { newest_first: true, ..AuditFilter::default() };
        for (filter, expected) in [
            (none.clone(), vec!["d", "c", "b", "a"]),
            (AuditFilter { thread: Some("main".into()), ..none.clone() }, vec!["d", "b", "a"]),
            (AuditFilter { outcome: Some("failed".into()), ..none.clone() }, vec!["b"]),
            (AuditFilter { outcome: Some("ok".into()), ..none.clone() }, vec!["d", "c", "a"]),
            (AuditFilter { decision: Some("d1".into()), ..none.clone() }, vec!["b", "a"]),
            (AuditFilter { since: Some(at(200)), until: Some(at(300)), ..none.clone() }, vec!["c", "b"]),
            (AuditFilter { since: Some(at(300)), until: Some(at(200)), ..none.clone() }, vec![]),
            (AuditFilter { limit: Some(2), ..none.clone() }, vec!["d", "c"]),
        ] {
            let rows = store.export(Scope::All, &filter).await.unwrap();
            assert_eq!(rows.iter().map(key_of).collect::<Vec<_>>(), expected, "{filter:?}");
        }
        for newest_first in [true, false] {
            let mut page = AuditFilter { limit: Some(1), newest_first, ..AuditFilter::default() };
            let mut read = Vec::new();
            while let [row] = &store.export(Scope::All, &page).await.unwrap()[..] {
                page.after = Some(row.place());
                read.push(key_of(row));
            }
            if newest_first {
                read.reverse();
            }
            assert_eq!(read, ["a", "b", "c", "d"]);
        }
    }

    // The failed calls of a workspace are read page by page: open calls and successful calls are left out.
    #[test]
    async fn pages_of_failed_calls_have_final_outcomes(store: impl AuditSink) {
        let outcomes = [Some("ok"), Some("failed"), Some("pending"), None, Some("timed_out"), Some("interrupted"), Some("denied")];
        let rows = outcomes.iter().zip(0..).map(|(outcome, n)| AuditRow {
            started: at(100 + n),
            outcome: outcome.map(str::to_owned),
            ..audit(&format!("{n}"))
        });
        store.write(rows.collect()).await.unwrap();
        let mut page = AuditFilter { failed: true, newest_first: true, limit: Some(2), ..AuditFilter::default() };
        let rows = store.export(Scope::Workspace(&acme()), &page).await.unwrap();
        assert_eq!(rows.iter().map(key_of).collect::<Vec<_>>(), ["6", "4"]);
        page.after = rows.last().map(AuditRow::place);
        let rows = store.export(Scope::Workspace(&acme()), &page).await.unwrap();
        assert_eq!(rows.iter().map(key_of).collect::<Vec<_>>(), ["1"]);
    }

    // Pending approvals are read page by page, newest first or oldest first.
    #[test]
    async fn pages_of_approvals_are_read_in_both_orders(store: impl ApprovalStore) {
        for n in 0..5 {
            let request = ApprovalRequest { created: at(100 + n / 2), ..request(&format!("{n}")) };
            store.open(request).await.unwrap();
        }
        store.withdraw(&acme(), "2").await.unwrap();
        for (newest_first, expected) in [(true, ["4", "3", "1", "0"]), (false, ["0", "1", "3", "4"])] {
            let mut page = ApprovalFilter {
                status: Some(ApprovalStatus::Pending),
                limit: Some(1),
                newest_first,
                ..ApprovalFilter::default()
            };
            let mut read = Vec::new();
            while let [row] = &store.list(Scope::All, &page).await.unwrap()[..] {
                page.after = Some((row.request.created, row.request.id.clone()));
                read.push(row.request.id.clone());
            }
            assert_eq!(read, expected);
        }
    }
}
