//! Tests of call identities in the effect ledger, and of the keys of versions without call identities.

use crate::*;

use super::records::{acme, at, audit, end, intent, key, thread};
use super::{conflict, tests};

/// Returns an intent as a version without call identities stored it: its key is a hash, and the agent is not stored.
fn old(name: &str) -> Intent {
    Intent {
        identity: CallId::earlier("acme", name),
        agent: None,
        ..intent(name)
    }
}

/// Returns the same call, dispatched again by this version: the call at a position in message 4 of the thread.
fn again(name: &str, position: u32) -> Intent {
    Intent {
        identity: CallId::in_thread(&thread("main"), 4, position),
        earlier: Some(key(name)),
        owner: "run-2".into(),
        at: at(200),
        lease_until: at(600),
        ..intent(name)
    }
}

async fn is_new(store: &impl EffectLedger, intent: Intent) {
    let begun = store.begin(intent.clone(), None).await.unwrap();
    assert!(!matches!(begun, Begun::Replay(_)), "{intent:?}: {begun:?}");
}

async fn replayed(store: &impl EffectLedger, intent: Intent) -> EffectRow {
    match store.begin(intent, None).await.unwrap() {
        Begun::Replay(row) => row,
        Begun::New | Begun::Again { .. } => panic!("begun twice"),
    }
}

async fn all(store: &impl EffectLedger) -> Vec<EffectRow> {
    store.list(Scope::All, None).await.unwrap()
}

tests! {
    ($) __suite_identity in identity for Store;

    // Calls that differ in workspace, conversation, message, position or the number of a nested call are different effects.
    #[test]
    async fn different_calls_do_not_conflict(store: impl EffectLedger + AuditSink) {
        let mut calls = Vec::new();
        for workspace in ["", "acme", "umbrella"] {
            for conversation in ["main", "other", "main/0"] {
                let thread = ThreadId::new(workspace, conversation).unwrap();
                for message in [1, 2, 12] {
                    for position in [0, 1, 2] {
                        let call = CallId::in_thread(&thread, message, position);
                        calls.extend([call.nested(0), call.nested(1), call.nested(0).nested(0), call]);
                    }
                }
            }
            calls.extend([CallId::alone(workspace).unwrap(), CallId::alone(workspace).unwrap()]);
        }
        // All other fields differ too, so that a shared row would be a conflict.
        for (n, call) in calls.iter().enumerate() {
            let other = Intent { identity: call.clone(), tool: format!("tool {n}"), ..intent("call_0") };
            let row = AuditRow { identity: call.clone(), ..audit("call_0") };
            assert_eq!(store.begin(other, Some(row)).await.unwrap(), Begun::New, "{call:?}");
        }
        for (n, call) in calls.iter().enumerate() {
            let row = store.get(&call.key()).await.unwrap().unwrap();
            assert_eq!((row.intent.identity, row.intent.tool), (call.clone(), format!("tool {n}")));
        }
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap().len(), calls.len());
    }

    // An intent with a known identity and any different field is a conflict.
    #[test]
    async fn identity_with_different_fields_conflicts(store: impl EffectLedger) {
        let identity = CallId::in_thread(&thread("main"), 4, 0);
        let first = Intent { identity: identity.clone(), ..intent("call_0") };
        is_new(&store, first.clone()).await;
        for (other, what) in [
            (Intent { agent: None, ..first.clone() }, "agent"),
            (Intent { agent: Some("robot".into()), ..first.clone() }, "agent"),
            (Intent { tool: "wipe".into(), ..first.clone() }, "tool"),
            (Intent { arguments_hash: "00".into(), ..first.clone() }, "arguments"),
            (Intent { principal: "bob".into(), ..first.clone() }, "principal"),
            (Intent { call: "call_1".into(), ..first.clone() }, "call id"),
        ] {
            for at in [at(100), at(9000)] {
                conflict(store.begin(Intent { at, ..other.clone() }, None).await, what);
            }
        }
        assert_eq!(store.get(&identity.key()).await.unwrap().unwrap().intent, first);
    }

    // M6: an effect that a version without call identities began is found in every state, and not begun again.
    #[test]
    async fn an_effect_of_an_earlier_version_is_found(store: impl EffectLedger + AuditSink) {
        is_new(&store, old("running")).await;
        let row = replayed(&store, again("running", 0)).await;
        assert_eq!((row.state, row.intent), (EffectState::Running, old("running")));

        is_new(&store, old("lapsed")).await;
        let late = Intent { at: at(500), ..again("lapsed", 1) };
        assert_eq!(replayed(&store, late).await.state, EffectState::Ambiguous);
        assert_eq!(store.get(&key("lapsed")).await.unwrap().unwrap().state, EffectState::Ambiguous);

        for (position, state) in [(2, EffectState::Ambiguous), (3, EffectState::Succeeded), (4, EffectState::Failed)] {
            let name = state.as_str();
            is_new(&store, old(name)).await;
            store.end(&key(name), "run-1", end(state, 150)).await.unwrap();
            let row = store.begin(again(name, position), Some(audit(name))).await.unwrap();
            let ended = EffectRow {
                intent: old(name),
                state,
                result: end(state, 150).result,
                ended: Some(at(150)),
                late: false,
                resolved_by: None,
                attempt: 1,
            };
            assert_eq!(row, Begun::Replay(ended));
        }
        assert_eq!(all(&store).await.len(), 5);
        assert_eq!(store.export(Scope::All, &AuditFilter::default()).await.unwrap(), []);
    }

    #[test]
    async fn an_effect_of_an_earlier_version_is_the_same_call_or_a_conflict(store: impl EffectLedger) {
        is_new(&store, old("k")).await;
        for (other, what) in [
            (Intent { tool: "wipe".into(), ..again("k", 0) }, "tool"),
            (Intent { arguments_hash: "00".into(), ..again("k", 0) }, "arguments"),
            (Intent { principal: "bob".into(), ..again("k", 0) }, "principal"),
        ] {
            conflict(store.begin(other, None).await, what);
        }
        let elsewhere = Intent { earlier: Some(CallKey::new("umbrella", "k")), ..again("l", 1) };
        conflict(store.begin(elsewhere, None).await, "a different workspace");
    }

    // An effect of an earlier version that an operator released is stored under the new key after its rerun, and only there.
    #[test]
    async fn a_rerun_moves_an_earlier_effect_to_its_new_key(store: impl EffectLedger) {
        is_new(&store, old("k")).await;
        store.sweep(Scope::Workspace(&acme()), at(500)).await.unwrap();
        store.resolve(&key("k"), Resolution::Rerun, "olga", at(500)).await.unwrap();
        let next = again("k", 0);
        is_new(&store, next.clone()).await;
        let row = store.get(&next.identity.key()).await.unwrap().unwrap();
        assert_eq!((row.attempt, row.resolved_by.as_deref()), (2, Some("olga")));
        assert_eq!(row.intent.identity, next.identity);
        assert_eq!(all(&store).await, std::slice::from_ref(&row));
        // The rerun has replaced the row of the first attempt, so the end of that attempt is a conflict and marks the row as late.
        conflict(store.end(&key("k"), "run-1", end(EffectState::Succeeded, 550)).await, "owner");
        let row = EffectRow { late: true, ..row };
        assert_eq!(all(&store).await, std::slice::from_ref(&row));
        assert_eq!(replayed(&store, next).await, row);
    }

    // M5: a call that was begun under its new key does not run again under its earlier key, for example by an approval token
    // that a version without call identities stored.
    #[test]
    async fn a_call_is_found_by_its_earlier_key(store: impl EffectLedger) {
        let next = again("k", 0);
        is_new(&store, next.clone()).await;
        let found = store.get(&key("k")).await.unwrap().unwrap();
        assert_eq!(found.intent.identity, next.identity);
        let resumed = Intent { identity: CallId::earlier("acme", "k"), earlier: None, ..next.clone() };
        assert_eq!(replayed(&store, resumed.clone()).await, found);
        assert!(store.renew(&key("k"), "run-2", at(700)).await.unwrap());
        assert_eq!(store.end(&key("k"), "run-2", end(EffectState::Succeeded, 650)).await.unwrap(), Ended::InTime);
        let row = replayed(&store, resumed).await;
        assert_eq!((row.state, row.intent.identity), (EffectState::Succeeded, next.identity));
        assert_eq!(all(&store).await.len(), 1);
        assert_eq!(store.get(&CallKey::new("umbrella", "k")).await.unwrap(), None);
    }

    // An operator's rerun of an earlier effect also begins under the earlier key, even if the rerun has an agent and the old row has none.
    #[test]
    async fn an_earlier_effect_is_rerun_under_its_own_key(store: impl EffectLedger) {
        is_new(&store, old("k")).await;
        store.resolve(&key("k"), Resolution::Rerun, "olga", at(500)).await.unwrap();
        let resumed = Intent { agent: Some("clerk".into()), owner: "run-2".into(), at: at(500), lease_until: at(900), ..old("k") };
        is_new(&store, resumed.clone()).await;
        let row = replayed(&store, again("k", 0)).await;
        assert_eq!((row.attempt, row.intent), (2, resumed));
    }

    // In earlier versions, two calls of one message shared a key if the model repeated an id. Now they have different keys.
    #[test]
    async fn calls_that_shared_an_earlier_key_are_separate(store: impl EffectLedger) {
        is_new(&store, again("k", 0)).await;
        is_new(&store, Intent { arguments_hash: "00".into(), ..again("k", 1) }).await;
        assert_eq!(all(&store).await.len(), 2);
        for position in [0, 1] {
            let key = again("k", position).identity.key();
            assert_eq!(store.get(&key).await.unwrap().unwrap().intent.identity.key(), key);
        }
    }
}
