//! Tests of processes that share limits on one database.

use std::sync::Arc;
use std::time::Duration;

use test_support::Ran;
use test_support::postgres::server;
use tool_store::suite::records::acme;
use tool_store::*;

use crate::clocks::Host;
use crate::database::Database;
use crate::pooler::Pooler;
use crate::processes::Worker;
use crate::shared_limits as shared;

const PROCESSES: u32 = 4;

// Processes that take units of one limit at the same time never exceed it together.
pub(crate) async fn processes_together_do_not_exceed_a_limit_case() -> Ran {
    let database = Database::create().await?;
    database.options().open().await.unwrap();
    let start = |_| Worker::start("take units", &database.url);
    let mut workers: Vec<Worker> = (0..PROCESSES).map(start).collect();
    workers.iter_mut().for_each(Worker::go);
    let lines: Vec<String> = workers.into_iter().flat_map(Worker::finish).collect();
    shared::check_units(&lines, PROCESSES);
    Ok(())
}

// The permits of a killed process are released within one lease.
pub(crate) async fn permits_of_a_killed_process_return_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let mut worker = Worker::start("hold permits", &database.url);
    worker.go();
    assert_eq!(worker.line().as_deref(), Some("holds"));
    shared::killed_process_returns_its_permits(&store, || drop(worker.kill())).await;
    Ok(())
}

const HOUR: Duration = Duration::from_hours(1);

fn id(name: &str) -> LimitId {
    LimitId::new(Some(&acme()), name).unwrap()
}

/// Takes a unit of a limit at the time of the host's clock. Returns the wait if the limit is exhausted.
async fn take(
    host: &Host,
    name: &str,
    rule: LimitRule,
    token: &str,
) -> Result<LimitUnit, Duration> {
    let take = LimitTake {
        id: id(name),
        rule,
        token: token.to_owned(),
        at: host.now(),
    };
    match host.run(host.store.take_limit(take)).await.unwrap() {
        LimitTaken::Taken(unit) => Ok(unit),
        LimitTaken::Refused(wait) => Err(wait),
    }
}

/// Returns two hosts behind a pooler in transaction mode. The clock of the first is an hour slow, and the clock of the second is an hour fast.
async fn hosts(database: &Database, pooler: &Pooler) -> [Arc<Host>; 2] {
    let mut hosts = Vec::new();
    for skew in [-3_600_000, 3_600_000] {
        let options = PostgresOptions::new(&pooler.url(database)).unwrap();
        let options = options.unprepared(true).connections(8);
        let options = options.migrator(&database.url).unwrap();
        let options = options.listener(&database.url).unwrap();
        hosts.push(Arc::new(Host::of(options.open().await.unwrap(), skew)));
    }
    hosts.try_into().unwrap_or_else(|_| panic!("two hosts"))
}

// The windows of quotas, the intervals of rates and the leases of permits follow the clock of the database, even behind a pooler in transaction mode.
pub(crate) async fn limits_follow_the_clock_of_the_database_behind_a_pooler_case() -> Ran {
    let database = Database::create().await?;
    let pooler = Pooler::start(server()?)?;
    let [slow, fast] = hosts(&database, &pooler).await;
    let minutes = |wait: Result<LimitUnit, Duration>| wait.unwrap_err().as_secs_f64() / 60.0;
    for (first, second, name) in [(&slow, &fast, "slow first"), (&fast, &slow, "fast first")] {
        // A window of a quota ends at the same time for both hosts.
        let quota = LimitRule::Quota {
            calls: 2,
            window: HOUR,
        };
        let name_of = |kind: &str| format!("{kind}, {name}");
        let quota_name = name_of("quota");
        let unit = take(first, &quota_name, quota, "a").await.unwrap();
        take(second, &quota_name, quota, "b").await.unwrap();
        for host in [first, second] {
            let wait = minutes(take(host, &quota_name, quota, "c").await);
            assert!((58.0..=60.1).contains(&wait), "{name}: {wait}");
        }
        let (quota_id, at) = (id(&quota_name), second.now());
        let returned = second.store.return_limit(&quota_id, &unit, at);
        assert!(second.run(returned).await.unwrap());
        take(first, &quota_name, quota, "d").await.unwrap();

        // A rate of two calls in an hour allows one call in each half hour.
        let rate = LimitRule::Rate {
            calls: 2,
            period: HOUR,
        };
        let rate_name = name_of("rate");
        take(first, &rate_name, rate, "a").await.unwrap();
        take(second, &rate_name, rate, "b").await.unwrap();
        for host in [first, second] {
            let wait = minutes(take(host, &rate_name, rate, "c").await);
            assert!((28.0..=30.1).contains(&wait), "{name}: {wait}");
        }

        // The lease of a permit lasts for the time that its holder requested, and can be extended until then.
        let lease = Duration::from_millis(2400);
        let permits = LimitRule::AtOnce { permits: 1, lease };
        let permit_name = name_of("permits");
        let permit_id = id(&permit_name);
        take(first, &permit_name, permits, "a").await.unwrap();
        let wait = take(second, &permit_name, permits, "b").await.unwrap_err();
        assert!(wait <= lease && !wait.is_zero(), "{name}: {wait:?}");
        tokio::time::sleep(lease / 2).await;
        let extend = async || {
            let extended = first
                .store
                .extend_permit(&permit_id, "a", lease, first.now());
            first.run(extended).await.unwrap()
        };
        assert!(extend().await, "{name}");
        tokio::time::sleep(lease * 2 / 3).await;
        take(second, &permit_name, permits, "b").await.unwrap_err();
        tokio::time::sleep(lease / 2).await;
        assert!(!extend().await, "{name}");
        take(second, &permit_name, permits, "b").await.unwrap();
    }
    assert_eq!(taken_at_once(&slow, &fast).await, [15; 3]);
    Ok(())
}

/// Runs 24 tasks on both hosts at the same time. Each task requests two units of a quota, of a rate and of permits. Each limit allows 15 units.
/// Returns the number of units that each limit has allowed.
async fn taken_at_once(slow: &Arc<Host>, fast: &Arc<Host>) -> [u32; 3] {
    let rules = [
        (
            "quota",
            LimitRule::Quota {
                calls: 15,
                window: HOUR,
            },
        ),
        (
            "rate",
            LimitRule::Rate {
                calls: 15,
                period: HOUR,
            },
        ),
        (
            "permits",
            LimitRule::AtOnce {
                permits: 15,
                lease: HOUR,
            },
        ),
    ];
    let calls = (0..24).map(|number| {
        let host = if number % 2 == 0 { slow } else { fast };
        let host = Arc::clone(host);
        tokio::spawn(async move {
            let mut taken = [0; 3];
            for round in 0..2 {
                for (index, (name, rule)) in rules.into_iter().enumerate() {
                    let holder = format!("{number} {round}");
                    let unit = take(&host, name, rule, &holder).await;
                    taken[index] += u32::from(unit.is_ok());
                }
            }
            taken
        })
    });
    let mut taken = [0; 3];
    for call in calls.collect::<Vec<_>>() {
        let of_call = call.await.unwrap();
        taken
            .iter_mut()
            .zip(of_call)
            .for_each(|(sum, of)| *sum += of);
    }
    taken
}
