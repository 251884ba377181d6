//! Tests of processes that share limits, and of a process that is killed while it holds permits.

use std::time::{Duration, Instant};

use tool_store::suite::records::acme;
use tool_store::*;

/// The number of requests of each process for each limit, and the number of units of each limit.
const REQUESTS: u32 = 12;
const UNITS: u32 = 15;

const HOUR: Duration = Duration::from_hours(1);

/// The lease of the permits of the process that is killed.
const LEASE: Duration = Duration::from_millis(900);

fn request(name: &str, rule: LimitRule, token: String) -> LimitTake {
    LimitTake {
        id: LimitId::new(Some(&acme()), name).unwrap(),
        rule,
        token,
        at: Timestamp::now(),
    }
}

async fn take(store: &impl LimitStore, name: &str, rule: LimitRule, token: String) -> bool {
    let done = store.take_limit(request(name, rule, token)).await.unwrap();
    matches!(done, LimitTaken::Taken(_))
}

/// Runs the job of a child process: takes units of three limits, and prints the name of the limit for each unit.
pub(crate) async fn take_units(store: &impl LimitStore, say: impl Fn(&str)) {
    let rules = [
        (
            "quota",
            LimitRule::Quota {
                calls: UNITS,
                window: HOUR,
            },
        ),
        (
            "rate",
            LimitRule::Rate {
                calls: UNITS,
                period: HOUR,
            },
        ),
        (
            "permits",
            LimitRule::AtOnce {
                permits: UNITS,
                lease: HOUR,
            },
        ),
    ];
    for number in 0..REQUESTS {
        for (name, rule) in rules {
            let token = format!("{} {number}", std::process::id());
            if take(store, name, rule, token).await {
                say(name);
            }
        }
    }
}

/// Checks the lines of the processes that have run [`take_units`].
pub(crate) fn check_units(lines: &[String], processes: u32) {
    assert!(processes * REQUESTS > 2 * UNITS);
    for name in ["quota", "rate", "permits"] {
        let taken = lines.iter().filter(|line| *line == name).count();
        assert_eq!(taken, UNITS as usize, "{name}");
    }
}

const HELD: LimitRule = LimitRule::AtOnce {
    permits: 3,
    lease: LEASE,
};

/// Runs the job of a child process: holds all permits of a limit until the process is killed, and renews their leases.
pub(crate) async fn hold_permits(store: &impl LimitStore, say: impl Fn(&str)) {
    let tokens = ["a", "b", "c"];
    for token in tokens {
        assert!(take(store, "held", HELD, token.to_owned()).await);
    }
    say("holds");
    let id = LimitId::new(Some(&acme()), "held").unwrap();
    loop {
        tokio::time::sleep(LEASE / 3).await;
        for token in tokens {
            let renewed = store.extend_permit(&id, token, LEASE, Timestamp::now());
            assert!(renewed.await.unwrap());
        }
    }
}

/// Tests that the permits of a process that runs [`hold_permits`] are not available while the process runs, and are released within one lease after
/// `kill` has killed it.
pub(crate) async fn killed_process_returns_its_permits(
    store: &impl LimitStore,
    kill: impl FnOnce(),
) {
    let other = async || take(store, "held", HELD, "other".to_owned()).await;
    let began = Instant::now();
    while began.elapsed() < 2 * LEASE {
        assert!(!other().await, "the leases are renewed");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    kill();
    let killed = Instant::now();
    assert!(!other().await, "the leases have not ended");
    while !other().await {
        // The additional time is for a slow machine.
        assert!(killed.elapsed() < LEASE + Duration::from_secs(5));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let id = LimitId::new(Some(&acme()), "held").unwrap();
    let row = store.limit(&id).await.unwrap().unwrap();
    let held: Vec<&String> = row.permits.keys().collect();
    assert!(held.contains(&&"other".to_owned()), "{held:?}");
}
