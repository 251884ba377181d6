//! The effect ledger.

use tool_core::store::*;

use crate::records::{at, audit, end, intent};
use crate::{at_once, both, conflict, missing};

async fn row(store: &impl EffectLedger, key: &str) -> EffectRow {
    store.get(key).await.unwrap().unwrap()
}

fn fresh(intent: Intent) -> EffectRow {
    EffectRow {
        intent,
        state: EffectState::Running,
        result: None,
        ended: None,
        late: false,
        resolved_by: None,
        attempt: 1,
    }
}

both! {
    #[test]
    async fn an_intent_is_stored_whole_with_its_audit_row(store: impl EffectLedger + AuditSink) {
        assert_eq!(store.get("k").await.unwrap(), None);
        assert_eq!(store.begin(intent("k"), Some(audit("k"))).await.unwrap(), Begun::New);
        assert_eq!(row(&store, "k").await, fresh(intent("k")));
        assert_eq!(store.export(&AuditFilter::default()).await.unwrap(), [audit("k")]);
        let bare = Intent { thread: None, ..intent("l") };
        assert_eq!(store.begin(bare.clone(), None).await.unwrap(), Begun::New);
        assert_eq!(row(&store, "l").await, fresh(bare));
        assert_eq!(store.export(&AuditFilter::default()).await.unwrap().len(), 1);
    }

    // M6: what was begun is answered from the ledger, in every state, and not begun again.
    #[test]
    async fn a_key_is_begun_once(store: impl EffectLedger + AuditSink) {
        for (key, state) in [("k", EffectState::Succeeded), ("l", EffectState::Failed), ("m", EffectState::Ambiguous)] {
            store.begin(intent(key), None).await.unwrap();
            let again = Intent { owner: "run-2".into(), at: at(200), lease_until: at(900), ..intent(key) };
            let replay = Begun::Replay(fresh(intent(key)));
            assert_eq!(store.begin(again.clone(), Some(audit(key))).await.unwrap(), replay);
            assert_eq!(store.end(key, "run-1", end(state, 300)).await.unwrap(), Ended::InTime);
            let ended = EffectRow { state, result: end(state, 300).result, ended: Some(at(300)), ..fresh(intent(key)) };
            assert_eq!(store.begin(again, Some(audit(key))).await.unwrap(), Begun::Replay(ended.clone()));
            assert_eq!(row(&store, key).await, ended);
        }
        // The first attempt's audit row is not written over.
        assert_eq!(store.export(&AuditFilter::default()).await.unwrap(), []);
    }

    // M6: of 32 tasks that begin one effect one runs it.
    #[test]
    async fn of_many_that_begin_one_runs(store: impl EffectLedger + AuditSink + Clone) {
        let begun = at_once(|task| {
            let store = store.clone();
            async move {
                let owner = format!("run-{task}");
                let begun = store.begin(Intent { owner: owner.clone(), ..intent("k") }, Some(audit(&owner))).await.unwrap();
                (begun == Begun::New).then_some(owner)
            }
        }).await;
        let winners: Vec<String> = begun.into_iter().flatten().collect();
        assert_eq!(winners, [row(&store, "k").await.intent.owner]);
        let audited = store.export(&AuditFilter::default()).await.unwrap();
        assert_eq!(audited.into_iter().map(|row| row.id).collect::<Vec<_>>(), winners);
    }

    #[test]
    async fn a_key_belongs_to_one_effect(store: impl EffectLedger + AuditSink) {
        store.begin(intent("k"), None).await.unwrap();
        let lapsed = Intent { at: at(9000), lease_until: at(9900), ..intent("k") };
        for (other, what) in [
            (Intent { tool: "wipe".into(), ..lapsed.clone() }, "tool"),
            (Intent { arguments_hash: "00".into(), ..lapsed.clone() }, "arguments"),
            (Intent { tenant: "umbrella".into(), ..lapsed.clone() }, "tenant"),
            (Intent { principal: "bob".into(), ..lapsed.clone() }, "principal"),
        ] {
            conflict(store.begin(other, Some(audit("k"))).await, what);
        }
        assert_eq!(row(&store, "k").await, fresh(intent("k")));
        assert_eq!(store.export(&AuditFilter::default()).await.unwrap(), []);
    }

    // M6: only an expired lease makes a running effect ambiguous.
    #[test]
    async fn a_dead_owners_effect_is_ambiguous(store: impl EffectLedger) {
        store.begin(intent("k"), None).await.unwrap();
        let alive = Intent { owner: "run-2".into(), at: at(499), ..intent("k") };
        let dead = Intent { at: at(500), ..alive.clone() };
        assert_eq!(store.begin(alive, None).await.unwrap(), Begun::Replay(fresh(intent("k"))));
        let ambiguous = EffectRow { state: EffectState::Ambiguous, ..fresh(intent("k")) };
        assert_eq!(store.begin(dead, None).await.unwrap(), Begun::Replay(ambiguous.clone()));
        assert_eq!(row(&store, "k").await, ambiguous);
        assert!(!store.renew("k", "run-1", at(900)).await.unwrap());
    }

    #[test]
    async fn a_lease_is_its_owners_to_renew(store: impl EffectLedger) {
        assert!(!store.renew("k", "run-1", at(900)).await.unwrap());
        store.begin(intent("k"), None).await.unwrap();
        assert!(!store.renew("k", "run-2", at(900)).await.unwrap());
        assert!(store.renew("k", "run-1", at(900)).await.unwrap());
        assert!(store.renew("k", "run-1", at(700)).await.unwrap());
        assert_eq!(row(&store, "k").await.intent.lease_until, at(900));
        assert_eq!(store.sweep(at(899)).await.unwrap(), []);
        assert_eq!(store.end("k", "run-1", end(EffectState::Succeeded, 899)).await.unwrap(), Ended::InTime);
        assert!(!store.renew("k", "run-1", at(2000)).await.unwrap());
    }

    // M6: a late end is recorded, and as late.
    #[test]
    async fn a_late_end_counts_and_is_late(store: impl EffectLedger) {
        for (key, swept) in [("k", false), ("l", true)] {
            store.begin(intent(key), None).await.unwrap();
            if swept {
                assert_eq!(store.sweep(at(500)).await.unwrap().len(), 1);
            }
            assert_eq!(store.end(key, "run-1", end(EffectState::Succeeded, 500)).await.unwrap(), Ended::Late);
            let ended = row(&store, key).await;
            assert_eq!((ended.state, ended.late), (EffectState::Succeeded, true));
            assert_eq!(ended.result, end(EffectState::Succeeded, 500).result);
        }
        // Dropped after it began: ambiguous in time, then known after all.
        store.begin(intent("m"), None).await.unwrap();
        assert_eq!(store.end("m", "run-1", end(EffectState::Ambiguous, 300)).await.unwrap(), Ended::InTime);
        assert_eq!(store.end("m", "run-1", end(EffectState::Failed, 400)).await.unwrap(), Ended::Late);
        assert_eq!(row(&store, "m").await.state, EffectState::Failed);
    }

    #[test]
    async fn an_end_is_one_end_of_ones_own(store: impl EffectLedger) {
        missing(store.end("k", "run-1", end(EffectState::Succeeded, 300)).await);
        store.begin(intent("k"), None).await.unwrap();
        conflict(store.end("k", "run-2", end(EffectState::Succeeded, 300)).await, "owner");
        conflict(store.end("k", "run-1", end(EffectState::Running, 300)).await, "running");
        assert_eq!(row(&store, "k").await, fresh(intent("k")));
        store.end("k", "run-1", EffectEnd { result: None, ..end(EffectState::Failed, 300) }).await.unwrap();
        conflict(store.end("k", "run-1", end(EffectState::Succeeded, 301)).await, "failed");
        assert_eq!(row(&store, "k").await.result, None);
    }

    // M6: a doubt is settled by somebody's word, and the ledger names them.
    #[test]
    async fn a_doubt_is_settled_by_an_operator(store: impl EffectLedger) {
        missing(store.resolve("k", Resolution::Rerun, "olga", at(900)).await);
        for (key, resolution, state, result) in [
            ("k", Resolution::Succeeded("7".into()), EffectState::Succeeded, "7"),
            ("l", Resolution::Failed(r#""gone""#.into()), EffectState::Failed, r#""gone""#),
        ] {
            store.begin(intent(key), None).await.unwrap();
            conflict(store.resolve(key, resolution.clone(), "olga", at(499)).await, "running");
            assert_eq!(row(&store, key).await, fresh(intent(key)));
            // An expired lease needs no sweep first.
            let settled = store.resolve(key, resolution.clone(), "olga", at(900)).await.unwrap();
            let expected = EffectRow {
                state,
                result: Some(result.into()),
                ended: Some(at(900)),
                resolved_by: Some("olga".into()),
                ..fresh(intent(key))
            };
            assert_eq!(settled, expected);
            assert_eq!(row(&store, key).await, expected);
            conflict(store.resolve(key, resolution, "olga", at(901)).await, state.as_str());
            conflict(store.end(key, "run-1", end(EffectState::Failed, 902)).await, state.as_str());
        }
    }

    #[test]
    async fn a_rerun_is_the_next_attempt(store: impl EffectLedger) {
        store.begin(intent("k"), None).await.unwrap();
        store.sweep(at(500)).await.unwrap();
        let released = store.resolve("k", Resolution::Rerun, "olga", at(900)).await.unwrap();
        assert_eq!((released.state, released.attempt), (EffectState::Ambiguous, 1));
        assert_eq!(store.get("k").await.unwrap(), None);
        assert_eq!(store.list(None, None).await.unwrap(), []);
        missing(store.resolve("k", Resolution::Rerun, "olga", at(900)).await);

        let next = Intent { owner: "run-2".into(), at: at(1000), lease_until: at(1500), ..intent("k") };
        conflict(store.begin(Intent { arguments_hash: "00".into(), ..next.clone() }, None).await, "arguments");
        assert_eq!(store.begin(next.clone(), None).await.unwrap(), Begun::New);
        let second = EffectRow { attempt: 2, resolved_by: Some("olga".into()), ..fresh(next.clone()) };
        assert_eq!(row(&store, "k").await, second);
        assert_eq!(store.begin(next, None).await.unwrap(), Begun::Replay(second));
        conflict(store.end("k", "run-1", end(EffectState::Succeeded, 1100)).await, "owner");
        assert_eq!(store.end("k", "run-2", end(EffectState::Succeeded, 1100)).await.unwrap(), Ended::InTime);
    }

    // M6: the first attempt ends after all, before the second began: it is not begun again.
    #[test]
    async fn a_late_end_takes_a_release_back(store: impl EffectLedger) {
        store.begin(intent("k"), None).await.unwrap();
        store.resolve("k", Resolution::Rerun, "olga", at(900)).await.unwrap();
        assert_eq!(store.end("k", "run-1", end(EffectState::Succeeded, 950)).await.unwrap(), Ended::Late);
        let next = Intent { owner: "run-2".into(), at: at(1000), lease_until: at(1500), ..intent("k") };
        let Begun::Replay(row) = store.begin(next, None).await.unwrap() else { panic!("begun twice") };
        assert_eq!((row.state, row.late), (EffectState::Succeeded, true));
    }

    #[test]
    async fn a_sweep_takes_what_is_over(store: impl EffectLedger) {
        for (key, begun, lease) in [("c", 1, 500), ("a", 2, 400), ("b", 1, 300), ("alive", 0, 501)] {
            store.begin(Intent { at: at(begun), lease_until: at(lease), ..intent(key) }, None).await.unwrap();
        }
        let swept = store.sweep(at(500)).await.unwrap();
        assert!(swept.iter().all(|row| row.state == EffectState::Ambiguous));
        let keys: Vec<_> = swept.into_iter().map(|row| row.intent.key).collect();
        assert_eq!(keys, ["b", "c", "a"]);
        assert_eq!(store.sweep(at(500)).await.unwrap(), []);
        assert_eq!(row(&store, "alive").await.state, EffectState::Running);
    }

    #[test]
    async fn lists_are_by_time_of_a_tenant_in_a_state(store: impl EffectLedger) {
        for (key, begun, tenant) in [("c", 1, "acme"), ("a", 2, "acme"), ("b", 1, "umbrella")] {
            store.begin(Intent { at: at(begun), tenant: tenant.into(), ..intent(key) }, None).await.unwrap();
        }
        store.end("a", "run-1", end(EffectState::Succeeded, 300)).await.unwrap();
        let running = Some(EffectState::Running);
        for (tenant, state, expected) in [
            (None, None, vec!["b", "c", "a"]),
            (Some("acme"), None, vec!["c", "a"]),
            (None, running, vec!["b", "c"]),
            (Some("acme"), running, vec!["c"]),
            (Some("nobody"), None, vec![]),
        ] {
            let rows = store.list(tenant, state).await.unwrap();
            let keys: Vec<_> = rows.into_iter().map(|row| row.intent.key).collect();
            assert_eq!(keys, expected);
        }
    }
}
