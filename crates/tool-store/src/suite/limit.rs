//! Tests of limits that several processes share.

use std::collections::BTreeMap;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::*;

use super::records::{acme, at};
use super::{at_once, conflict, tests};

/// The traits of a store whose limits are purged.
#[doc(hidden)]
pub trait Limited: LimitStore + Maintenance {}

impl<T: LimitStore + Maintenance> Limited for T {}

fn id(name: &str) -> LimitId {
    LimitId::new(Some(&acme()), name).unwrap()
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A burst of 3 calls, and then one every 100 ms.
const RATE: LimitRule = LimitRule::Rate {
    calls: 3,
    period: Duration::from_millis(300),
};

/// 3 calls in a second.
const QUOTA: LimitRule = LimitRule::Quota {
    calls: 3,
    window: Duration::from_secs(1),
};

/// 3 permits with leases of 500 ms.
const PERMITS: LimitRule = LimitRule::AtOnce {
    permits: 3,
    lease: Duration::from_millis(500),
};

fn request(rule: LimitRule, token: &str, now: i64) -> LimitTake {
    LimitTake {
        id: id("main"),
        rule,
        token: token.to_owned(),
        at: at(now),
    }
}

/// Requests a unit. Returns `None` if the unit was taken, and otherwise the time to wait, in milliseconds.
async fn refused(store: &impl LimitStore, take: LimitTake) -> Option<u128> {
    match store.take_limit(take).await.unwrap() {
        LimitTaken::Taken(_) => None,
        LimitTaken::Refused(wait) => Some(wait.as_millis()),
    }
}

async fn taken(store: &impl LimitStore, take: LimitTake) -> LimitUnit {
    match store.take_limit(take).await.unwrap() {
        LimitTaken::Taken(unit) => unit,
        LimitTaken::Refused(wait) => panic!("refused for {wait:?}"),
    }
}

fn permit(token: &str) -> LimitUnit {
    LimitUnit::Permit {
        token: token.to_owned(),
    }
}

tests! {
    ($) __suite_limit in limit for Limited;

    // A rate allows a burst, and then one call in each interval. The refusal states when the next call is allowed.
    #[test]
    async fn rate_allows_a_burst_and_then_one_call_per_interval(store: impl LimitStore) {
        assert_eq!(store.limit(&id("main")).await.unwrap(), None);
        for (now, wait) in [(1_000, None), (1_000, None), (1_000, None), (1_000, Some(100)), (1_040, Some(60)), (1_100, None), (1_150, Some(50)), (5_000, None)] {
            assert_eq!(refused(&store, request(RATE, "a", now)).await, wait, "at {now}");
        }
        let row = store.limit(&id("main")).await.unwrap().unwrap();
        assert_eq!((row.since, row.ends, row.updated), (5_100_000, at(5_100), at(5_000)));
        // Units of a rate cannot be returned.
        assert!(!store.return_limit(&id("main"), &LimitUnit::Rate, at(5_000)).await.unwrap());
    }

    // A quota counts calls in a window that begins with its first call, and allows the next calls when the window has ended.
    #[test]
    async fn quota_counts_in_a_window(store: impl LimitStore) {
        for (now, wait) in [(1_000, None), (1_500, None), (1_900, None), (1_999, Some(1)), (2_000, None), (2_100, None), (2_200, None), (2_300, Some(700))] {
            assert_eq!(refused(&store, request(QUOTA, "a", now)).await, wait, "at {now}");
        }
        let row = store.limit(&id("main")).await.unwrap().unwrap();
        assert_eq!((row.since, row.used, row.ends), (2_000_000, 3, at(3_000)));
    }

    // A call that another limit refused is returned to its window, and not to a later window.
    #[test]
    async fn call_is_returned_to_its_window(store: impl LimitStore) {
        let back = async |unit: &LimitUnit, now| store.return_limit(&id("main"), unit, at(now)).await.unwrap();
        let first = taken(&store, request(QUOTA, "a", 1_000)).await;
        for _ in 0..2 {
            assert_eq!(refused(&store, request(QUOTA, "a", 1_100)).await, None);
        }
        assert!(back(&first, 1_200).await);
        assert_eq!(refused(&store, request(QUOTA, "a", 1_200)).await, None);
        assert_eq!(refused(&store, request(QUOTA, "a", 1_200)).await, Some(800));
        assert_eq!(refused(&store, request(QUOTA, "a", 2_500)).await, None);
        assert!(!back(&first, 2_600).await);
        assert_eq!(store.limit(&id("main")).await.unwrap().unwrap().used, 1);
        assert!(!store.return_limit(&id("unknown"), &first, at(1)).await.unwrap());
    }

    // Concurrent calls hold permits. A permit that is returned is available at once, and a repeated request holds only one permit.
    #[test]
    async fn permits_limit_concurrent_calls(store: impl LimitStore) {
        for token in ["a", "b", "c", "b"] {
            assert_eq!(taken(&store, request(PERMITS, token, 1_000)).await, permit(token));
        }
        assert_eq!(refused(&store, request(PERMITS, "d", 1_100)).await, Some(400));
        let back = async |token: &str| store.return_limit(&id("main"), &permit(token), at(1_200)).await.unwrap();
        assert!(back("b").await);
        assert!(!back("b").await);
        assert_eq!(refused(&store, request(PERMITS, "d", 1_200)).await, None);
        assert_eq!(refused(&store, request(PERMITS, "e", 1_200)).await, Some(300));
        let row = store.limit(&id("main")).await.unwrap().unwrap();
        let ends = BTreeMap::from([("a".to_owned(), at(1_500)), ("c".to_owned(), at(1_500)), ("d".to_owned(), at(1_700))]);
        assert_eq!((row.permits, row.ends), (ends, at(1_700)));
    }

    // The permit of a dead process is released when its lease ends. A renewed lease ends later, and a lease that has ended is not renewed.
    #[test]
    async fn permits_of_dead_processes_return(store: impl LimitStore) {
        for token in ["a", "b", "dead"] {
            taken(&store, request(PERMITS, token, 1_000)).await;
        }
        let renew = async |token: &str, now| store.extend_permit(&id("main"), token, millis(500), at(now)).await.unwrap();
        assert!(renew("a", 1_400).await && renew("b", 1_400).await);
        assert_eq!(refused(&store, request(PERMITS, "d", 1_499)).await, Some(1));
        assert_eq!(refused(&store, request(PERMITS, "d", 1_500)).await, None);
        assert_eq!(refused(&store, request(PERMITS, "e", 1_500)).await, Some(400));
        assert!(!renew("dead", 1_500).await);
        assert!(!renew("unknown", 1_500).await);
        assert!(!store.extend_permit(&id("unknown"), "a", millis(500), at(1)).await.unwrap());
        assert_eq!(store.limit(&id("main")).await.unwrap().unwrap().ends, at(2_000));
    }

    // Limits with the same name in two workspaces and in the host are separate.
    #[test]
    async fn limits_of_workspaces_are_separate(store: impl LimitStore) {
        let other = Workspace::new("globex");
        for workspace in [None, Some(&acme()), Some(&other)] {
            let of = LimitId::new(workspace, "grün/%_'").unwrap();
            let take = |now| LimitTake { id: of.clone(), ..request(QUOTA, "a", now) };
            for now in [100, 110, 120] {
                assert_eq!(refused(&store, take(now)).await, None);
            }
            assert_eq!(refused(&store, take(130)).await, Some(970));
        }
        assert_eq!(store.limit(&id("grün")).await.unwrap(), None);
    }

    // If the clock is set back, rates and quotas count from the new time.
    #[test]
    async fn clock_that_is_set_back_blocks_no_limit(store: impl LimitStore) {
        for (name, rule) in [("rate", RATE), ("quota", QUOTA)] {
            let take = |now| LimitTake { id: id(name), ..request(rule, "a", now) };
            for now in [9_000_000, 1_000] {
                for _ in 0..3 {
                    assert_eq!(refused(&store, take(now)).await, None);
                }
                assert!(refused(&store, take(now)).await.is_some());
            }
        }
    }

    // Rules that allow nothing, times that are too short, too many permits, and invalid names and tokens are refused.
    #[test]
    async fn faulty_limits_are_refused(store: impl LimitStore) {
        let (none, short) = (0, Duration::ZERO);
        for (rule, words) in [
            (LimitRule::Rate { calls: none, period: millis(1) }, "allows no calls"),
            (LimitRule::Rate { calls: 2_000, period: millis(1) }, "too short"),
            (LimitRule::Quota { calls: none, window: millis(1) }, "allows no calls"),
            (LimitRule::Quota { calls: 1, window: short }, "too short"),
            (LimitRule::AtOnce { permits: none, lease: millis(1) }, "allows no calls"),
            (LimitRule::AtOnce { permits: 1, lease: short }, "too short"),
            (LimitRule::AtOnce { permits: 1_001, lease: millis(1) }, "at most 1000"),
        ] {
            conflict(store.take_limit(request(rule, "a", 100)).await, words);
        }
        for token in ["", "a\0"] {
            conflict(store.take_limit(request(PERMITS, token, 100)).await, "use a random text");
        }
        for name in ["", "a\0"] {
            conflict(LimitId::new(None, name), "the name of the limit");
        }
        conflict(LimitId::new(Some(&Workspace::new("")), "a"), "use `None`");
        assert_eq!(store.limit(&id("main")).await.unwrap(), None);
    }

    // A purge removes expired rows, and no other rows.
    #[test]
    async fn purge_removes_only_expired_limits(store: impl LimitStore + Maintenance) {
        for (name, rule) in [("rate", RATE), ("quota", QUOTA), ("permits", PERMITS)] {
            taken(&store, LimitTake { id: id(name), ..request(rule, "a", 1_000) }).await;
        }
        let purge = async |now, most| store.purge(&Retention::default(), at(now), most).await.unwrap();
        assert_eq!(purge(1_099, 10).await.limits, 0);
        assert_eq!(purge(1_499, 10).await.limits, 1);
        assert_eq!(store.limit(&id("rate")).await.unwrap(), None);
        assert!(store.extend_permit(&id("permits"), "a", millis(700), at(1_499)).await.unwrap());
        assert_eq!(purge(1_999, 10).await.limits, 0);
        let one = purge(2_500, 1).await;
        assert_eq!((one.limits, one.more), (1, true));
        assert_eq!(purge(2_500, 10).await.limits, 1);
        assert_eq!(refused(&store, LimitTake { id: id("quota"), ..request(QUOTA, "a", 2_500) }).await, None);
    }
}

/// Returns a strategy for random operations on the limits: the kind, the time since the previous operation, and the number of the permit.
fn operations() -> impl Strategy<Value = Vec<(u8, i64, u8)>> {
    prop::collection::vec((0_u8..6, 0_i64..400, 0_u8..5), 1..40)
}

/// Runs an operation. Returns its result as text, which is empty for a return.
async fn apply(
    store: &impl LimitStore,
    (kind, now, number): (u8, i64, u8),
    window: &mut Option<LimitUnit>,
) -> String {
    let token = format!("{number}");
    let take = |name: &str, rule| LimitTake {
        id: id(name),
        ..request(rule, &token, now)
    };
    let said = match kind {
        0 => store.take_limit(take("rate", RATE)).await,
        1 => {
            let done = store.take_limit(take("quota", QUOTA)).await;
            if let Ok(LimitTaken::Taken(unit)) = &done {
                *window = Some(unit.clone());
            }
            done
        }
        2 | 3 => store.take_limit(take("permits", PERMITS)).await,
        4 => {
            let id = id("permits");
            let renewed = store.extend_permit(&id, &token, millis(500), at(now));
            return format!("{}", renewed.await.unwrap());
        }
        _ => {
            let of_quota = window.as_ref().filter(|_| number < 3);
            let (name, unit) = match of_quota {
                Some(unit) => ("quota", unit.clone()),
                None => ("permits", permit(&token)),
            };
            // Whether the row still contains a permit whose lease has ended depends on the store.
            store.return_limit(&id(name), &unit, at(now)).await.unwrap();
            return String::new();
        }
    };
    format!("{:?}", said.unwrap())
}

tests! {
    ($) __suite_limit_races in limit for LimitStore;

    // Random requests, extensions and returns have the same results in the store and in the memory store, except for the result of a return.
    #[test]
    fn random_operations_have_the_results_of_the_memory_store(opener) {
        opener.hold(&operations(), async |store, operations| {
            let memory = MemoryStore::default();
            let (mut now, mut own, mut of_memory) = (1_000, None, None);
            for (kind, step, number) in operations {
                now += step;
                let operation = (kind, now, number);
                let said = apply(store, operation, &mut own).await;
                prop_assert_eq!(said, apply(&memory, operation, &mut of_memory).await, "{:?}", operation);
            }
            Ok::<(), TestCaseError>(())
        });
    }

    // 32 tasks of two processes that take units at the same time never exceed a limit, even if its row does not exist yet.
    #[test]
    fn concurrent_requests_do_not_exceed_a_limit(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            for (name, rule) in [("rate", RATE), ("quota", QUOTA), ("permits", PERMITS)] {
                let units = at_once(|task| {
                    let store = stores[usize::from(task % 2 == 1)].clone();
                    let take = LimitTake { id: id(name), ..request(rule, &format!("{task}"), 1_000) };
                    async move { refused(&store, take).await }
                }).await;
                assert_eq!(units.iter().filter(|wait| wait.is_none()).count(), 3, "{name}");
            }
        });
    }

    // 32 tasks of two processes take and return the permits of one limit many times. At most 3 tasks hold a permit at the same time, and no permit is
    // lost.
    #[test]
    fn concurrent_calls_hold_at_most_the_permits(opener) {
        opener.test(async |place| {
            let stores = [place.open().await, place.open().await];
            let held = std::sync::Arc::new(std::sync::atomic::AtomicI32::new(0));
            let most = at_once(|task| {
                let (store, held) = (stores[usize::from(task % 2 == 1)].clone(), held.clone());
                async move {
                    let mut most = 0;
                    for round in 0..6 {
                        let take = request(PERMITS, &format!("{task}/{round}"), 1_000);
                        let LimitTaken::Taken(unit) = store.take_limit(take).await.unwrap() else { continue };
                        most = most.max(held.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1);
                        tokio::time::sleep(millis(1)).await;
                        held.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        assert!(store.return_limit(&id("main"), &unit, at(1_000)).await.unwrap());
                    }
                    most
                }
            }).await;
            let most = most.into_iter().max();
            assert!((Some(1)..=Some(3)).contains(&most), "{most:?}");
            assert_eq!(stores[0].limit(&id("main")).await.unwrap().unwrap().permits, BTreeMap::new());
        });
    }
}
