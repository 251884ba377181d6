//! Tests of two hosts whose clocks are wrong by ten minutes, in opposite directions.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, Instant, SystemTime};

use test_support::Ran;
use tool_store::env::{Env, Task, Work, enter};
use tool_store::suite::records::{acme, end, intent, key, request, spill, thread};
use tool_store::*;

use crate::database::Database;

const TEN_MINUTES: i64 = 10 * 60 * 1000;

/// The environment of a host whose clock differs by this number of milliseconds.
struct Skewed(i64);

impl Env for Skewed {
    fn now(&self) -> Timestamp {
        let now = Timestamp::from(SystemTime::now());
        Timestamp::from_millis(now.as_millis() + self.0)
    }

    fn monotonic(&self) -> Instant {
        Instant::now()
    }

    fn random(&self, bytes: &mut [u8]) -> io::Result<()> {
        io::Read::read_exact(&mut std::fs::File::open("/dev/urandom")?, bytes)
    }

    fn spawn(&self, task: Task) {
        tokio::spawn(task);
    }

    fn spawn_blocking(&self, work: Work) {
        tokio::task::spawn_blocking(work);
    }
}

/// A host with its own clock.
pub(crate) struct Host {
    env: Arc<Skewed>,
    pub(crate) store: PostgresStore,
}

/// A future of a host: each poll runs in the environment of the host.
struct OnHost<F>(Arc<Skewed>, Pin<Box<F>>);

impl<F: Future> Future for OnHost<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _entered = enter(self.0.clone());
        self.1.as_mut().poll(cx)
    }
}

impl Host {
    async fn new(database: &Database, skew: i64) -> Self {
        Self::of(database.options().open().await.unwrap(), skew)
    }

    /// Returns a host whose clock differs by a number of milliseconds.
    pub(crate) fn of(store: PostgresStore, skew: i64) -> Self {
        Self {
            env: Arc::new(Skewed(skew)),
            store,
        }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.env.now()
    }

    fn after(&self, millis: u64) -> Timestamp {
        self.now().plus(Duration::from_millis(millis))
    }

    pub(crate) async fn run<F: Future>(&self, call: F) -> F::Output {
        OnHost(self.env.clone(), Box::pin(call)).await
    }
}

/// Returns two hosts: one clock is ten minutes slow, and the other clock is ten minutes fast. With `slow_first`, the clock of the first host is slow.
async fn hosts(slow_first: bool) -> Result<(Host, Host), test_support::Missing> {
    let database = Database::create().await?;
    let skew = if slow_first {
        -TEN_MINUTES
    } else {
        TEN_MINUTES
    };
    let one = Host::new(&database, skew).await;
    Ok((one, Host::new(&database, -skew).await))
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(700)).await;
}

fn begin_at(host: &Host, owner: &str, millis: u64) -> Intent {
    Intent {
        owner: owner.into(),
        at: host.now(),
        lease_until: host.after(millis),
        ..intent("k")
    }
}

// M6: the lease of an effect lasts for the time span that its owner requested, independently of the hosts' clocks.
pub(crate) async fn effect_leases_follow_the_database_case() -> Ran {
    let k = key("k");
    for slow_first in [true, false] {
        let (one, other) = hosts(slow_first).await?;
        let begun = begin_at(&one, "run-1", 60_000);
        let lease = begun.lease_until;
        one.run(one.store.begin(begun, None)).await.unwrap();

        // The lease is valid, so no host treats the call as abandoned.
        let again = other.store.begin(begin_at(&other, "run-2", 60_000), None);
        let Begun::Replay(row) = other.run(again).await.unwrap() else {
            panic!("begun twice");
        };
        assert_eq!(
            (row.state, row.intent.lease_until),
            (EffectState::Running, lease)
        );
        let swept = other.store.sweep(Scope::All, other.now());
        assert_eq!(other.run(swept).await.unwrap(), []);
        let resolved = other
            .store
            .resolve(&k, Resolution::Rerun, "olga", other.now());
        assert!(matches!(
            other.run(resolved).await,
            Err(StoreError::Conflict(_))
        ));

        // A renewal for 61 seconds is accepted, and an end within this time is in time.
        let renewed = one.store.renew(&k, "run-1", one.after(61_000));
        assert!(one.run(renewed).await.unwrap());
        let ended = EffectEnd {
            at: one.now(),
            ..end(EffectState::Succeeded, 0)
        };
        let ended = one.store.end(&k, "run-1", ended);
        assert_eq!(one.run(ended).await.unwrap(), Ended::InTime);
    }
    Ok(())
}

// M6: an expired lease is expired for every host.
pub(crate) async fn expired_effect_leases_are_noticed_by_every_host_case() -> Ran {
    let k = key("k");
    for slow_first in [true, false] {
        let (one, other) = hosts(slow_first).await?;
        let begun = one.store.begin(begin_at(&one, "run-1", 300), None);
        one.run(begun).await.unwrap();
        pause().await;
        let swept = other.store.sweep(Scope::All, other.now());
        let [row] = &other.run(swept).await.unwrap()[..] else {
            panic!("expected one row");
        };
        assert_eq!(row.state, EffectState::Ambiguous);
        let ended = EffectEnd {
            at: one.now(),
            ..end(EffectState::Succeeded, 0)
        };
        let ended = one.store.end(&k, "run-1", ended);
        assert_eq!(one.run(ended).await.unwrap(), Ended::Late);
    }
    Ok(())
}

// A renewed lease counts from its renewal.
pub(crate) async fn renewed_effect_lease_counts_from_its_renewal_case() -> Ran {
    let k = key("k");
    let (one, other) = hosts(true).await?;
    let begun = one.store.begin(begin_at(&one, "run-1", 300), None);
    one.run(begun).await.unwrap();
    let renewed = one.store.renew(&k, "run-1", one.after(1_500));
    assert!(one.run(renewed).await.unwrap());
    pause().await;
    let swept = other.store.sweep(Scope::All, other.now());
    assert_eq!(other.run(swept).await.unwrap(), []);
    pause().await;
    pause().await;
    let swept = other.store.sweep(Scope::All, other.now());
    assert_eq!(other.run(swept).await.unwrap().len(), 1);
    Ok(())
}

fn change_at(host: &Host, change: Change) -> ChangeRequest {
    let key = RequestKey {
        caller: "olga".to_owned(),
        key: "k1".to_owned(),
        fingerprint: "f1".to_owned(),
        at: host.now(),
        expires: host.after(500),
        respond: |_| "first".to_owned(),
    };
    let audit = AuditRow::of_operator("acme", "olga", "test", "{}", host.now());
    ChangeRequest {
        change,
        audit: audit.unwrap(),
        key: Some(key),
    }
}

// Every host finds an idempotency key for the time span that the first host requested. The check of the row that an operator has read does not depend
// on the host's clock.
pub(crate) async fn changes_of_operators_follow_the_database_case() -> Ran {
    for slow_first in [true, false] {
        let (one, other) = hosts(slow_first).await?;
        let asked = ApprovalRequest {
            created: one.now(),
            expires: one.after(60_000),
            ..request("a")
        };
        one.run(one.store.open(asked)).await.unwrap();
        let acme = acme();
        let read = other.run(ApprovalStore::get(&other.store, &acme, "a"));
        let assign = Change::Assign {
            id: "a".to_owned(),
            assignee: Some("eve".to_owned()),
            expected: Expected::Same(read.await.unwrap().map(Box::new)),
        };
        let assigned = one.store.apply(change_at(&one, assign.clone()));
        assert!(matches!(one.run(assigned).await, Ok(Applied::Changed(_))));
        let again = other.store.apply(change_at(&other, assign.clone()));
        let first = Applied::Repeated("first".to_owned());
        assert_eq!(other.run(again).await.unwrap(), first);
        pause().await;
        let stale = other
            .run(other.store.apply(change_at(&other, assign)))
            .await;
        assert!(matches!(stale, Err(StoreError::Stale(_))), "{stale:?}");
        let answer = Change::Answer {
            id: "a".to_owned(),
            answer: ApprovalAnswer {
                verdict: Verdict::Approve,
                approver: "eve".to_owned(),
                reason: None,
                at: other.now(),
            },
        };
        let answered = other.store.apply(change_at(&other, answer));
        assert!(matches!(other.run(answered).await, Ok(Applied::Changed(_))));
    }
    Ok(())
}

fn run_at(host: &Host, owner: &str, millis: u64) -> NewRun {
    NewRun {
        thread: thread("t"),
        principal: None,
        agent: None,
        owner: owner.into(),
        at: host.now(),
        lease_until: host.after(millis),
    }
}

// The database's clock also determines when the lease of a run expires.
pub(crate) async fn run_leases_follow_the_database_case() -> Ran {
    for slow_first in [true, false] {
        let (one, other) = hosts(slow_first).await?;
        let begun = one.store.begin_run(run_at(&one, "one", 60_000));
        let RunBegun::Begun(run) = one.run(begun).await.unwrap() else {
            panic!("a different host drives the thread");
        };
        let busy = other.store.begin_run(run_at(&other, "other", 60_000));
        let RunBegun::Busy(held) = other.run(busy).await.unwrap() else {
            panic!("the lease of `one` was not respected");
        };
        assert_eq!(held, run);

        let renewed = one
            .store
            .renew_run(&run.id, "one", one.after(300), RunProgress::default());
        let renewed = one.run(renewed).await.unwrap().unwrap();
        assert_eq!(
            renewed.lease_until, run.lease_until,
            "a renewal has changed the lease"
        );
        let end = RunEnd {
            cause: RunCause::Replied,
            at: one.now(),
            progress: RunProgress::default(),
        };
        assert!(
            one.run(one.store.end_run(&run.id, "one", end))
                .await
                .unwrap()
        );

        let begun = one.store.begin_run(run_at(&one, "one", 300));
        one.run(begun).await.unwrap();
        pause().await;
        let taken = other.store.begin_run(run_at(&other, "other", 60_000));
        let RunBegun::Begun(taken) = other.run(taken).await.unwrap() else {
            panic!("the expired lease was not taken over");
        };
        assert_eq!((taken.id.number(), taken.attempt), (2, 2));
    }
    Ok(())
}

// M5: an approval can be answered and spent until it expires by the database's clock, and a read returns the deadline that was written.
pub(crate) async fn approvals_expire_by_the_database_case() -> Ran {
    for slow_first in [true, false] {
        let (one, other) = hosts(slow_first).await?;
        let open = |id: &str, millis: u64| ApprovalRequest {
            created: one.now(),
            expires: one.after(millis),
            ..request(id)
        };
        let (long, short) = (open("long", 60_000), open("short", 300));
        one.run(one.store.open(long.clone())).await.unwrap();
        one.run(one.store.open(short)).await.unwrap();
        let yes = || ApprovalAnswer {
            verdict: Verdict::Approve,
            approver: "eve".into(),
            reason: None,
            at: other.now(),
        };
        let (acme, now) = (acme(), other.now());
        let answered = other.store.answer(&acme, "long", yes());
        let answered = other.run(answered).await.unwrap();
        assert_eq!(answered.status, ApprovalStatus::Approved);
        assert_eq!(answered.request, long);
        assert_eq!(
            other
                .run(ApprovalStore::expire(&other.store, Scope::All, now))
                .await
                .unwrap(),
            0
        );
        let spent = other.store.spend(&acme, "long", "nonce", now);
        assert!(other.run(spent).await.unwrap());

        pause().await;
        let late = other.store.answer(&acme, "short", yes());
        let late = other.run(late).await.unwrap_err();
        assert!(late.to_string().contains("expired"), "{late}");
    }
    Ok(())
}

// M17: a spilled output can be read until it expires by the database's clock.
pub(crate) async fn spilled_outputs_expire_by_the_database_case() -> Ran {
    for slow_first in [true, false] {
        let (one, other) = hosts(slow_first).await?;
        for (handle, millis) in [("long", 60_000), ("short", 300)] {
            let text = Spill {
                at: one.now(),
                expires: one.after(millis),
                ..spill(handle, "text")
            };
            one.run(one.store.put(text)).await.unwrap();
        }
        let read = async |handle| {
            let acme = acme();
            let part = SpillStore::read(&other.store, &acme, "ann", handle, 0, 9, other.now());
            other.run(part).await.unwrap().is_some()
        };
        assert!(read("long").await && read("short").await);
        pause().await;
        assert!(read("long").await && !read("short").await);
        let expired = SpillStore::expire(&other.store, Scope::All, other.now());
        assert_eq!(other.run(expired).await.unwrap(), 1);
    }
    Ok(())
}
