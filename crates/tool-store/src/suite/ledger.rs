//! Tests of the effect ledger.

use crate::*;

use super::records::{acme, at, audit, end, intent, key, key_of, named_in};
use super::{at_once, conflict, missing, tests};

async fn row(store: &impl EffectLedger, name: &str) -> EffectRow {
    store.get(&key(name)).await.unwrap().unwrap()
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

tests! {
    ($) __suite_ledger in ledger for Store;

    #[test]
    async fn an_intent_is_stored_with_its_audit_row(store: impl EffectLedger + AuditSink) {
        assert_eq!(store.get(&key("k")).await.unwrap(), None);
        assert_eq!(store.begin(intent("k"), Some(audit("k"))).await.unwrap(), Begun::New);
        assert_eq!(row(&store, "k").await, fresh(intent("k")));
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap(), [audit("k")]);
        let bare = Intent { thread: None, ..intent("l") };
        assert_eq!(store.begin(bare.clone(), None).await.unwrap(), Begun::New);
        assert_eq!(row(&store, "l").await, fresh(bare));
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap().len(), 1);
    }

    // M6: an effect that was begun is not begun again: in every state, the ledger returns its row.
    #[test]
    async fn a_key_is_begun_once(store: impl EffectLedger + AuditSink) {
        for (name, state) in [("k", EffectState::Succeeded), ("l", EffectState::Failed), ("m", EffectState::Ambiguous)] {
            store.begin(intent(name), None).await.unwrap();
            let again = Intent { owner: "run-2".into(), at: at(200), lease_until: at(900), ..intent(name) };
            let replay = Begun::Replay(fresh(intent(name)));
            assert_eq!(store.begin(again.clone(), Some(audit(name))).await.unwrap(), replay);
            assert_eq!(store.end(&key(name), "run-1", end(state, 300)).await.unwrap(), Ended::InTime);
            let ended = EffectRow { state, result: end(state, 300).result, ended: Some(at(300)), ..fresh(intent(name)) };
            assert_eq!(store.begin(again, Some(audit(name))).await.unwrap(), Begun::Replay(ended.clone()));
            assert_eq!(row(&store, name).await, ended);
        }
        // A call that is not begun again writes no audit row.
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap(), []);
    }

    // M6: of 32 tasks that begin one effect, one runs it.
    #[test]
    async fn one_of_many_concurrent_begins_runs(store: impl EffectLedger + AuditSink + Clone) {
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
        let audited = store.export(Scope::All, &AuditFilter::default()).await.unwrap();
        assert_eq!(audited.iter().map(key_of).collect::<Vec<_>>(), winners);
    }

    #[test]
    async fn key_with_different_fields_conflicts(store: impl EffectLedger + AuditSink) {
        store.begin(intent("k"), None).await.unwrap();
        let lapsed = Intent { at: at(9000), lease_until: at(9900), ..intent("k") };
        for (other, what) in [
            (Intent { tool: "wipe".into(), ..lapsed.clone() }, "tool"),
            (Intent { arguments_hash: "00".into(), ..lapsed.clone() }, "arguments"),
            (Intent { call: "another".into(), ..lapsed.clone() }, "call id"),
            (Intent { agent: None, ..lapsed.clone() }, "agent"),
            (Intent { agent: Some("robot".into()), ..lapsed.clone() }, "agent"),
            (Intent { principal: "bob".into(), ..lapsed.clone() }, "principal"),
        ] {
            conflict(store.begin(other, Some(audit("k"))).await, what);
        }
        assert_eq!(row(&store, "k").await, fresh(intent("k")));
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap(), []);
    }

    // M6: an effect whose owner is dead becomes ambiguous when its lease has expired, and not before.
    #[test]
    async fn effect_of_a_dead_owner_is_ambiguous(store: impl EffectLedger) {
        store.begin(intent("k"), None).await.unwrap();
        let alive = Intent { owner: "run-2".into(), at: at(499), ..intent("k") };
        let dead = Intent { at: at(500), ..alive.clone() };
        assert_eq!(store.begin(alive, None).await.unwrap(), Begun::Replay(fresh(intent("k"))));
        let ambiguous = EffectRow { state: EffectState::Ambiguous, ..fresh(intent("k")) };
        assert_eq!(store.begin(dead, None).await.unwrap(), Begun::Replay(ambiguous.clone()));
        assert_eq!(row(&store, "k").await, ambiguous);
        assert!(!store.renew(&key("k"), "run-1", at(900)).await.unwrap());
    }

    #[test]
    async fn only_the_owner_renews_a_lease(store: impl EffectLedger) {
        assert!(!store.renew(&key("k"), "run-1", at(900)).await.unwrap());
        store.begin(intent("k"), None).await.unwrap();
        assert!(!store.renew(&key("k"), "run-2", at(900)).await.unwrap());
        assert!(store.renew(&key("k"), "run-1", at(900)).await.unwrap());
        assert!(store.renew(&key("k"), "run-1", at(700)).await.unwrap());
        assert_eq!(row(&store, "k").await.intent.lease_until, at(900));
        assert_eq!(store.sweep(Scope::All, at(899)).await.unwrap(), []);
        assert_eq!(store.end(&key("k"), "run-1", end(EffectState::Succeeded, 899)).await.unwrap(), Ended::InTime);
        assert!(!store.renew(&key("k"), "run-1", at(2000)).await.unwrap());
    }

    // M6: a late end is recorded and marked as late.
    #[test]
    async fn late_end_is_stored_and_marked_late(store: impl EffectLedger) {
        for (name, swept) in [("k", false), ("l", true)] {
            store.begin(intent(name), None).await.unwrap();
            if swept {
                assert_eq!(store.sweep(Scope::All, at(500)).await.unwrap().len(), 1);
            }
            assert_eq!(store.end(&key(name), "run-1", end(EffectState::Succeeded, 500)).await.unwrap(), Ended::Late);
            let ended = row(&store, name).await;
            assert_eq!((ended.state, ended.late), (EffectState::Succeeded, true));
            assert_eq!(ended.result, end(EffectState::Succeeded, 500).result);
        }
        // The future of the call is dropped: the effect is ambiguous before its lease expires, and its later end is still recorded.
        store.begin(intent("m"), None).await.unwrap();
        assert_eq!(store.end(&key("m"), "run-1", end(EffectState::Ambiguous, 300)).await.unwrap(), Ended::InTime);
        assert_eq!(store.end(&key("m"), "run-1", end(EffectState::Failed, 400)).await.unwrap(), Ended::Late);
        assert_eq!(row(&store, "m").await.state, EffectState::Failed);
    }

    #[test]
    async fn only_the_owner_ends_an_effect_and_only_once(store: impl EffectLedger) {
        missing(store.end(&key("k"), "run-1", end(EffectState::Succeeded, 300)).await);
        store.begin(intent("k"), None).await.unwrap();
        conflict(store.end(&key("k"), "run-2", end(EffectState::Succeeded, 300)).await, "owner");
        conflict(store.end(&key("k"), "run-1", end(EffectState::Running, 300)).await, "running");
        assert_eq!(row(&store, "k").await, fresh(intent("k")));
        store.end(&key("k"), "run-1", EffectEnd { result: None, ..end(EffectState::Failed, 300) }).await.unwrap();
        conflict(store.end(&key("k"), "run-1", end(EffectState::Succeeded, 301)).await, "failed");
        assert_eq!(row(&store, "k").await.result, None);
    }

    // M6: an operator settles an ambiguous effect once, and the row contains the operator's name. A running effect cannot be settled before its lease
    // has expired.
    #[test]
    async fn operator_resolves_an_ambiguous_effect(store: impl EffectLedger) {
        missing(store.resolve(&key("k"), Resolution::Rerun, "olga", at(900)).await);
        for (name, resolution, state, result) in [
            ("k", Resolution::Succeeded("7".into()), EffectState::Succeeded, "7"),
            ("l", Resolution::Failed(r#""gone""#.into()), EffectState::Failed, r#""gone""#),
        ] {
            store.begin(intent(name), None).await.unwrap();
            conflict(store.resolve(&key(name), resolution.clone(), "olga", at(499)).await, "running");
            assert_eq!(row(&store, name).await, fresh(intent(name)));
            // A row whose lease has expired can be resolved without a sweep.
            let settled = store.resolve(&key(name), resolution.clone(), "olga", at(900)).await.unwrap();
            let expected = EffectRow {
                state,
                result: Some(result.into()),
                ended: Some(at(900)),
                resolved_by: Some("olga".into()),
                ..fresh(intent(name))
            };
            assert_eq!(settled, expected);
            assert_eq!(row(&store, name).await, expected);
            conflict(store.resolve(&key(name), resolution, "olga", at(901)).await, state.as_str());
            conflict(store.end(&key(name), "run-1", end(EffectState::Failed, 902)).await, state.as_str());
        }
    }

    #[test]
    async fn a_rerun_is_the_next_attempt(store: impl EffectLedger) {
        store.begin(intent("k"), None).await.unwrap();
        store.sweep(Scope::All, at(500)).await.unwrap();
        let released = store.resolve(&key("k"), Resolution::Rerun, "olga", at(900)).await.unwrap();
        assert_eq!((released.state, released.attempt), (EffectState::Ambiguous, 1));
        assert_eq!(store.get(&key("k")).await.unwrap(), None);
        assert_eq!(store.list(Scope::All, None).await.unwrap(), []);
        missing(store.resolve(&key("k"), Resolution::Rerun, "olga", at(900)).await);

        let next = Intent { owner: "run-2".into(), at: at(1000), lease_until: at(1500), ..intent("k") };
        conflict(store.begin(Intent { arguments_hash: "00".into(), ..next.clone() }, None).await, "arguments");
        let again = Begun::Again { attempt: 2, operator: "olga".into() };
        assert_eq!(store.begin(next.clone(), None).await.unwrap(), again);
        let second = EffectRow { attempt: 2, resolved_by: Some("olga".into()), ..fresh(next.clone()) };
        assert_eq!(row(&store, "k").await, second);
        assert_eq!(store.begin(next, None).await.unwrap(), Begun::Replay(second));
        conflict(store.end(&key("k"), "run-1", end(EffectState::Succeeded, 1100)).await, "owner");
        assert_eq!(store.end(&key("k"), "run-2", end(EffectState::Succeeded, 1100)).await.unwrap(), Ended::InTime);
    }

    // The audit row of a later attempt is stored in addition to the row of the first attempt, whose outcome is not replaced.
    #[test]
    async fn later_attempt_has_a_separate_audit_row(store: impl EffectLedger + AuditSink) {
        let ended = AuditRow { outcome: Some("timed_out".into()), ..audit("k") };
        store.begin(intent("k"), Some(audit("k"))).await.unwrap();
        store.write(vec![ended.clone()]).await.unwrap();
        let mut expected = vec![ended];
        for attempt in [2, 3] {
            store.resolve(&key("k"), Resolution::Rerun, "olga", at(900)).await.unwrap();
            let next = Intent { owner: format!("run-{attempt}"), at: at(600), lease_until: at(700), ..intent("k") };
            let begun = store.begin(next, Some(audit("k"))).await.unwrap();
            assert_eq!(begun, Begun::Again { attempt, operator: "olga".into() });
            expected.push(audit("k").again(attempt, "olga"));
            let mut rows = store.export(Scope::All, &AuditFilter::default()).await.unwrap();
            rows.sort_by(|a, b| a.identity.cmp(&b.identity));
            assert_eq!(rows, expected);
        }
    }

    // If an operator resolves a call as failed while its body runs, and the body then succeeds, the row is marked as late and remains failed.
    #[test]
    async fn end_that_contradicts_an_operator_is_recorded(store: impl EffectLedger) {
        for (name, ended, late) in [("k", EffectState::Succeeded, true), ("l", EffectState::Failed, false)] {
            store.begin(intent(name), None).await.unwrap();
            let settled = Resolution::Failed("it did not arrive".into());
            store.resolve(&key(name), settled, "olga", at(900)).await.unwrap();
            conflict(store.end(&key(name), "run-1", end(ended, 950)).await, "has failed already");
            let row = row(&store, name).await;
            assert_eq!((row.state, row.late), (EffectState::Failed, late));
        }
    }

    // A call that only waits is released with its end in one write: it is not ambiguous, and continues as the same attempt.
    #[test]
    async fn end_of_a_call_that_waits_releases_its_key(store: impl EffectLedger + AuditSink + Clone) {
        let waits = |at| EffectEnd { released: true, ..end(EffectState::Failed, at) };
        for state in [EffectState::Succeeded, EffectState::Ambiguous] {
            store.begin(intent("m"), None).await.unwrap();
            let wrong = EffectEnd { state, ..waits(300) };
            conflict(store.end(&key("m"), "run-1", wrong).await, state.as_str());
            assert_eq!(row(&store, "m").await, fresh(intent("m")));
        }
        store.end(&key("m"), "run-1", end(EffectState::Failed, 301)).await.unwrap();
        // Without a journal, the test ends the call with the ledger's own method.
        let has_journal = EffectLedger::journal(&store).is_some();
        for (name, together) in [("k", false), ("l", has_journal)] {
            let mut begun = intent(name);
            for (number, ends) in [(1, 300), (2, 1300)] {
                begun = Intent { owner: format!("run-{number}"), at: at(ends - 200), lease_until: at(ends + 200), ..begun };
                assert_eq!(store.begin(begun.clone(), None).await.unwrap(), Begun::New);
                assert_eq!(row(&store, name).await, fresh(begun.clone()));
                if together {
                    let effect = Some(EndedEffect { key: key(name), owner: begun.owner.clone(), end: waits(ends) });
                    let batch = Batch { effect, ..Batch::default() };
                    let done = EffectLedger::journal(&store).unwrap().write(batch).await.unwrap();
                    assert_eq!(done.effect, Some(Ended::InTime));
                } else {
                    let ended = store.end(&key(name), &begun.owner, waits(ends)).await.unwrap();
                    assert_eq!(ended, Ended::InTime);
                }
                assert_eq!(store.get(&key(name)).await.unwrap(), None);
                missing(store.resolve(&key(name), Resolution::Rerun, "olga", at(ends + 1)).await);
                assert_eq!(store.sweep(Scope::All, at(ends + 900)).await.unwrap(), []);
            }
            // A rerun that an operator allows is a new attempt; waiting after the rerun does not begin a further attempt.
            begun = Intent { owner: "run-3".into(), at: at(3000), lease_until: at(3100), ..begun };
            store.begin(begun.clone(), None).await.unwrap();
            store.resolve(&key(name), Resolution::Rerun, "olga", at(3200)).await.unwrap();
            for (number, ends) in [(4, 4300), (5, 5300)] {
                begun = Intent { owner: format!("run-{number}"), at: at(ends - 200), lease_until: at(ends + 200), ..begun };
                store.begin(begun.clone(), None).await.unwrap();
                let expected = EffectRow { attempt: 2, resolved_by: Some("olga".into()), ..fresh(begun.clone()) };
                assert_eq!(row(&store, name).await, expected);
                store.end(&key(name), &begun.owner, waits(ends)).await.unwrap();
            }
        }
    }

    // The key of a call that must not run is closed in one write, so that a crash cannot make a call that never ran ambiguous.
    #[test]
    async fn closed_key_has_failed_and_cannot_begin(store: impl EffectLedger + AuditSink) {
        let result = || Some("refused".to_owned());
        assert_eq!(store.close_call(intent("k"), result()).await.unwrap(), Begun::New);
        let closed = EffectRow { state: EffectState::Failed, result: result(), ended: Some(at(100)), ..fresh(intent("k")) };
        assert_eq!(row(&store, "k").await, closed);
        // A closed key is final for every caller, including a caller that closes it again.
        let again = Intent { owner: "run-2".into(), ..intent("k") };
        for begun in [store.begin(again.clone(), None).await, store.close_call(again, Some("other".into())).await] {
            assert_eq!(begun.unwrap(), Begun::Replay(closed.clone()));
        }
        assert_eq!(store.sweep(Scope::All, at(9000)).await.unwrap(), []);
        conflict(store.end(&key("k"), "run-1", end(EffectState::Succeeded, 200)).await, "failed already");

        // A call whose lease has not expired is still running; a call whose lease has expired becomes ambiguous.
        store.begin(intent("l"), None).await.unwrap();
        let late = |at: Timestamp| Intent { owner: "run-2".into(), at, ..intent("l") };
        assert_eq!(store.close_call(late(at(150)), result()).await.unwrap(), Begun::Replay(fresh(intent("l"))));
        let doubt = EffectRow { state: EffectState::Ambiguous, ..fresh(intent("l")) };
        assert_eq!(store.close_call(late(at(9000)), result()).await.unwrap(), Begun::Replay(doubt.clone()));
        assert_eq!(row(&store, "l").await, doubt);

        // The key of a different call is not closed. A rerun that an operator allowed is closed as a new attempt.
        let other = Intent { arguments_hash: "other".into(), ..late(at(9100)) };
        conflict(store.close_call(other, result()).await, "arguments");
        store.resolve(&key("l"), Resolution::Rerun, "olga", at(9200)).await.unwrap();
        let begun = store.close_call(late(at(9300)), result()).await.unwrap();
        assert_eq!(begun, Begun::Again { attempt: 2, operator: "olga".into() });
        let row = row(&store, "l").await;
        assert_eq!((row.state, row.attempt, row.ended), (EffectState::Failed, 2, Some(at(9300))));
    }

    // A running row whose lease is far in the future can only be settled by force. A row that was settled by force cannot be forced again.
    #[test]
    async fn running_row_is_settled_by_force(store: impl EffectLedger) {
        missing(store.force(&key("k"), Resolution::Rerun, "olga", at(200)).await);
        for name in ["k", "l"] {
            store.begin(Intent { lease_until: at(1_000_000), ..intent(name) }, None).await.unwrap();
            conflict(store.resolve(&key(name), Resolution::Rerun, "olga", at(200)).await, "running");
        }
        let forced = store.force(&key("k"), Resolution::Succeeded("7".into()), "olga", at(200)).await.unwrap();
        assert_eq!((forced.state, forced.ended), (EffectState::Succeeded, Some(at(200))));
        assert_eq!((forced.result.as_deref(), forced.resolved_by.as_deref()), (Some("7"), Some("olga")));
        assert_eq!(row(&store, "k").await, forced);
        conflict(store.force(&key("k"), Resolution::Rerun, "olga", at(201)).await, "succeeded");
        store.force(&key("l"), Resolution::Rerun, "olga", at(200)).await.unwrap();
        missing(store.force(&key("l"), Resolution::Rerun, "olga", at(201)).await);
        let next = Intent { owner: "run-2".into(), at: at(300), lease_until: at(900), ..intent("l") };
        assert_eq!(store.begin(next, None).await.unwrap(), Begun::Again { attempt: 2, operator: "olga".into() });
    }

    // If a run that was presumed dead ends after the next run has begun, the row is marked as late.
    #[test]
    async fn late_end_of_an_earlier_run_is_marked(store: impl EffectLedger) {
        for (name, first_ends_last) in [("k", true), ("l", false)] {
            store.begin(intent(name), None).await.unwrap();
            conflict(store.end(&key(name), "run-9", end(EffectState::Succeeded, 300)).await, "owner");
            assert!(!row(&store, name).await.late);
            store.resolve(&key(name), Resolution::Rerun, "olga", at(900)).await.unwrap();
            let next = Intent { owner: "run-2".into(), at: at(1000), lease_until: at(1500), ..intent(name) };
            store.begin(next, None).await.unwrap();
            if first_ends_last {
                store.end(&key(name), "run-2", end(EffectState::Succeeded, 1100)).await.unwrap();
                assert!(!row(&store, name).await.late);
            }
            conflict(store.end(&key(name), "run-1", end(EffectState::Failed, 1200)).await, "owner");
            if !first_ends_last {
                store.end(&key(name), "run-2", end(EffectState::Succeeded, 1300)).await.unwrap();
            }
            let row = row(&store, name).await;
            assert_eq!((row.state, row.late, row.attempt), (EffectState::Succeeded, true, 2));
        }
    }

    // M6: if the first attempt ends before a released second attempt has begun, the second attempt does not begin.
    #[test]
    async fn late_end_revokes_a_release(store: impl EffectLedger) {
        store.begin(intent("k"), None).await.unwrap();
        store.resolve(&key("k"), Resolution::Rerun, "olga", at(900)).await.unwrap();
        assert_eq!(store.end(&key("k"), "run-1", end(EffectState::Succeeded, 950)).await.unwrap(), Ended::Late);
        let next = Intent { owner: "run-2".into(), at: at(1000), lease_until: at(1500), ..intent("k") };
        let Begun::Replay(row) = store.begin(next, None).await.unwrap() else { panic!("begun twice") };
        assert_eq!((row.state, row.late), (EffectState::Succeeded, true));
    }

    #[test]
    async fn sweep_marks_effects_with_expired_leases(store: impl EffectLedger) {
        for (name, begun, lease) in [("c", 1, 500), ("a", 2, 400), ("b", 1, 300), ("alive", 0, 501)] {
            store.begin(Intent { at: at(begun), lease_until: at(lease), ..intent(name) }, None).await.unwrap();
        }
        let swept = store.sweep(Scope::All, at(500)).await.unwrap();
        assert!(swept.iter().all(|row| row.state == EffectState::Ambiguous));
        let keys: Vec<_> = swept.into_iter().map(|row| row.intent.identity.key().as_str().to_owned()).collect();
        assert_eq!(keys, ["b", "c", "a"]);
        assert_eq!(store.sweep(Scope::All, at(500)).await.unwrap(), []);
        assert_eq!(row(&store, "alive").await.state, EffectState::Running);
    }

    #[test]
    async fn lists_are_filtered_by_workspace_and_state_and_ordered_by_time(store: impl EffectLedger) {
        for (name, begun, workspace) in [("c", 1, "acme"), ("a", 2, "acme"), ("b", 1, "umbrella")] {
            let identity = named_in(workspace, name);
            store.begin(Intent { identity, at: at(begun), ..intent(name) }, None).await.unwrap();
        }
        store.end(&key("a"), "run-1", end(EffectState::Succeeded, 300)).await.unwrap();
        let running = Some(EffectState::Running);
        let (acme, umbrella, nobody) = (acme(), Workspace::new("umbrella"), Workspace::new("nobody"));
        for (scope, state, expected) in [
            (Scope::All, None, vec!["c", "b", "a"]),
            (Scope::Workspace(&acme), None, vec!["c", "a"]),
            (Scope::Workspace(&umbrella), None, vec!["b"]),
            (Scope::All, running, vec!["c", "b"]),
            (Scope::Workspace(&acme), running, vec!["c"]),
            (Scope::Workspace(&nobody), None, vec![]),
        ] {
            let rows = store.list(scope, state).await.unwrap();
            let keys: Vec<_> = rows.into_iter().map(|row| row.intent.identity.key().as_str().to_owned()).collect();
            assert_eq!(keys, expected);
        }
    }
}
