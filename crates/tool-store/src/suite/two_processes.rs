//! Tests of two processes that share one store: each test opens its store twice.

use crate::*;

use super::records::{acme, at, end, intent, key, message, request, says, thread};
use super::workspaces::{fill, seen};
use super::{Opener, at_once, tests};

/// Opens a new store twice, and runs a test on both.
fn twice<S: Clone + 'static>(opener: &Opener<S>, test: impl AsyncFnOnce(&[S; 2])) {
    opener.test(async |place| test(&[place.open().await, place.open().await]).await);
}

/// Returns the store that a task uses: half of the tasks use each of the two stores.
fn one_of<S: Clone>(stores: &[S; 2], task: u32) -> S {
    stores[usize::from(task % 2 == 1)].clone()
}

fn one(done: Vec<bool>) {
    assert_eq!(done.into_iter().filter(|done| *done).count(), 1);
}

tests! {
    ($) __suite_two_processes in two_processes for Store;

    #[test]
    fn records_of_one_process_are_read_by_another(opener) {
        twice(opener, async |[one, other]| {
            let acme = acme();
            fill(one, &acme, "").await;
            let kill = Switch {
                key: SwitchKey {
                    workspace: None,
                    kind: SwitchKind::Kill,
                    tool: "send_mail".to_owned(),
                    source: String::new(),
                },
                on: true,
                by: "olga".to_owned(),
                reason: None,
                at: at(100),
            };
            let version = other.version().await.unwrap();
            one.set(kill.clone()).await.unwrap();
            assert_eq!(seen(other, &acme, "a").await, seen(one, &acme, "a").await);
            assert_eq!(other.in_force().await.unwrap(), [kill]);
            assert!(other.version().await.unwrap() > version);
            // The second process ends an effect that the first process began.
            let ended = other.end(&key("a"), "run-1", end(EffectState::Succeeded, 300)).await;
            assert_eq!(ended.unwrap(), Ended::InTime);
            let row = EffectLedger::get(one, &key("a")).await.unwrap().unwrap();
            assert_eq!(row.state, EffectState::Succeeded);
        });
    }

    // Of 32 tasks of two processes that begin one effect, one runs it.
    #[test]
    fn one_of_two_processes_begins_an_effect(opener) {
        twice(opener, async |stores| {
            one(at_once(|task| {
                let store = one_of(stores, task);
                let intent = Intent { owner: format!("run-{task}"), ..intent("k") };
                async move { store.begin(intent, None).await.unwrap() == Begun::New }
            }).await);
        });
    }

    // Of 32 tasks of two processes that spend one approval, one succeeds.
    #[test]
    fn one_of_two_processes_spends_an_approval(opener) {
        twice(opener, async |stores| {
            stores[0].open(request("a")).await.unwrap();
            stores[1].answer(&acme(), "a", says(Verdict::Approve)).await.unwrap();
            one(at_once(|task| {
                let store = one_of(stores, task);
                async move { store.spend(&acme(), "a", "nonce", at(300)).await.unwrap() }
            }).await);
        });
    }

    // Of 32 tasks of two processes that drive one thread, one begins the run.
    #[test]
    fn one_of_two_processes_gets_the_run(opener) {
        twice(opener, async |stores| {
            one(at_once(|task| {
                let store = one_of(stores, task);
                let run = NewRun {
                    thread: thread("t"),
                    principal: None,
                    agent: None,
                    owner: format!("run-{task}"),
                    at: at(0),
                    lease_until: at(100),
                };
                async move { matches!(store.begin_run(run).await.unwrap(), RunBegun::Begun(_)) }
            }).await);
        });
    }

    #[test]
    fn messages_of_two_processes_have_different_numbers(opener) {
        twice(opener, async |stores| {
            let mut numbers = at_once(|task| {
                let store = one_of(stores, task);
                async move { store.append(message("t", Role::User, None)).await.unwrap() }
            }).await;
            numbers.sort_unstable();
            assert_eq!(numbers, (1..=32).collect::<Vec<u64>>());
        });
    }
}
