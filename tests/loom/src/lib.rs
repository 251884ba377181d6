//! The primitives of `tool-core/src/sync`, compiled with loom's locks and atomics instead of the standard library's.
#![allow(missing_docs, reason = "the modules are documented in their own crate")]
#![allow(
    unreachable_pub,
    dead_code,
    reason = "the modules are private to their own crate, which uses all of them"
)]
#![cfg(test)]

mod imp {
    pub(super) use loom::sync::atomic::{AtomicU8, AtomicU64, Ordering};
    pub(super) use loom::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};
}

#[path = "../../../tool-core/src/sync/backlog.rs"]
mod backlog;
#[path = "../../../tool-core/src/sync/door.rs"]
mod door;
#[path = "../../../tool-core/src/sync/start.rs"]
mod start;
#[path = "../../../tool-core/src/sync/versioned.rs"]
mod versioned;

use backlog::Backlog;
use door::Door;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use loom::thread;
use start::Start;
use versioned::Versioned;

/// Races a sync tool's body against the call that waits for it (`run/blocking`).
#[test]
fn body_is_started_or_abandoned_never_both() {
    loom::model(|| {
        let (start, ran) = (Arc::new(Start::new()), Arc::new(AtomicBool::new(false)));
        let body = {
            let (start, ran) = (Arc::clone(&start), Arc::clone(&ran));
            thread::spawn(move || {
                let began = start.begin();
                if began {
                    ran.store(true, Ordering::Relaxed);
                }
                began
            })
        };
        let left = start.leave();
        if left {
            assert!(!ran.load(Ordering::Relaxed), "an abandoned body has run");
        }
        assert_ne!(body.join().unwrap(), left, "both sides or neither side won");
        assert_eq!(ran.load(Ordering::Relaxed), !left);
        assert!(
            !start.begin() && !start.leave(),
            "the decision was changed later"
        );
    });
}

/// Races two calls that enter a gate against a host that drains it (`gate/host`).
#[test]
fn drain_sees_every_entered_call() {
    loom::model(|| {
        let (door, inside) = (Arc::new(Door::new()), Arc::new(AtomicUsize::new(0)));
        let calls: Vec<_> = (0..2)
            .map(|call| {
                let (door, inside) = (Arc::clone(&door), Arc::clone(&inside));
                thread::spawn(move || {
                    let at = door.enter(|| {
                        inside.fetch_add(1, Ordering::Relaxed);
                        call
                    });
                    at.map(|at| door.leave(at))
                })
            })
            .collect();
        door.close();
        let seen = door.inside();
        let entered = inside.load(Ordering::Relaxed);
        assert!(seen <= entered);
        let left: Vec<_> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        assert_eq!(
            inside.load(Ordering::Relaxed),
            entered,
            "a call entered after the close"
        );
        assert_eq!(left.iter().flatten().count(), entered);
        assert_eq!(door.inside(), 0);
        // If a call entered, the last call that leaves wakes the draining host.
        assert_eq!(entered > 0, left.contains(&Some(true)));
        assert_eq!(door.enter(|| 2), None);
    });
}

/// Races calls that write audit rows against a sink that fails (`audit/buffer`).
#[test]
fn audit_row_is_delivered_queued_or_counted() {
    const MOST: usize = 2;
    loom::model(|| {
        let backlog = Arc::new(Backlog::new(MOST));
        let calls: Vec<_> = (0..2)
            .map(|call| {
                let backlog = Arc::clone(&backlog);
                thread::spawn(move || {
                    for row in 0..2 {
                        backlog.push((call, row), false);
                    }
                })
            })
            .collect();
        // The first delivery fails; the second succeeds.
        backlog.put_back(backlog.take().into_iter(), false);
        assert!(backlog.len() <= MOST);
        let mut delivered: Vec<_> = backlog.take().into();
        for call in calls {
            call.join().unwrap();
        }
        delivered.extend(backlog.take());
        let dropped = usize::try_from(backlog.dropped()).unwrap();
        assert_eq!(delivered.len() + dropped, 4, "{delivered:?}");
        for of in 0..2 {
            let rows = delivered.iter().filter(|(call, _)| *call == of);
            assert!(
                rows.is_sorted(),
                "the rows of a call are not in order: {delivered:?}"
            );
        }
    });
}

/// Races two replacements of a policy against calls that read it (`policy/shared`, `visibility/current`).
#[test]
fn policy_versions_are_consistent_and_visible_after_the_write() {
    loom::model(|| {
        let policy = Arc::new(Versioned::new((0, 0)));
        let before = policy.read();
        let ended = Arc::new(AtomicBool::new(false));
        let operator = {
            let (policy, ended) = (Arc::clone(&policy), Arc::clone(&ended));
            thread::spawn(move || {
                policy.write().put((1, 1));
                ended.store(true, Ordering::Release);
                policy.write().put((2, 2));
            })
        };
        // Load the flag before the policy is read, so that the assertion below does not depend on the value that was read.
        let after = ended.load(Ordering::Acquire);
        if after {
            assert!(!policy.is_latest(&before), "a call uses the old version");
        }
        let now = policy.read();
        let (left, right) = **now;
        assert_eq!(left, right, "a read mixes two versions");
        assert_eq!(
            now.number, left,
            "the number belongs to a different version"
        );
        assert!(!after || left > 0);
        operator.join().unwrap();
        let last = policy.read();
        assert_eq!((last.number, **last), (2, (2, 2)));
        assert!(policy.is_latest(&last));
    });
}

/// Races two operators that change the policy: neither change is lost.
#[test]
fn concurrent_policy_changes_are_not_lost() {
    loom::model(|| {
        let names = Arc::new(Versioned::new(0_u64));
        let add = |names: &Versioned<u64>, bit: u64| {
            let mut writing = names.write();
            let all = *writing | bit;
            writing.put(all);
        };
        let other = {
            let names = Arc::clone(&names);
            thread::spawn(move || add(&names, 1))
        };
        add(&names, 2);
        other.join().unwrap();
        assert_eq!((names.read().number, **names.read()), (2, 3));
    });
}
