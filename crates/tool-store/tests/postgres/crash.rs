//! Tests of processes that are killed at random moments, and of callers that are dropped, while they write to one database.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};
use test_support::Ran;
use tool_store::suite::records::{
    acme, audit, intent, key, key_of, message, named, request, says, thread,
};
use tool_store::*;

use crate::database::Database;
use crate::processes::{Worker, say};

/// The numbers of effects, approvals and threads that the processes share.
const EFFECTS: u64 = 150;
const APPROVALS: u64 = 60;
const THREADS: u64 = 3;

/// Returns a random number below `most`.
fn random(most: u64) -> u64 {
    RandomState::new().hash_one(0) % most
}

fn now() -> Timestamp {
    Timestamp::now()
}

/// Runs the job of a child process: makes random calls until the process is killed, and prints each ended effect, appended message, spent approval
/// and ended run that the store has confirmed.
pub(crate) async fn work(store: &PostgresStore, url: &str) {
    let tasks: Vec<_> = (0..3)
        .map(|task| {
            let (store, url) = (store.clone(), url.to_owned());
            tokio::spawn(async move {
                let me = format!("{}-{task}", std::process::id());
                for round in 0.. {
                    match random(6) {
                        0 | 1 => effect(&store, &url, &format!("{me}-{round}")).await,
                        2 => append(&store, &format!("{me}-{round}")).await,
                        3 => spend(&store).await,
                        4 => drive(&store, &format!("{me}-{round}")).await,
                        _ => maintain(&store).await,
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}

/// Runs an effect that has not begun: inserts a row into the table `world`, in a transaction outside of the store.
async fn effect(store: &PostgresStore, url: &str, owner: &str) {
    let name = format!("e{}", random(EFFECTS));
    let begun = Intent {
        owner: owner.to_owned(),
        at: now(),
        lease_until: now().plus(Duration::from_mins(10)),
        ..intent(&name)
    };
    if let Begun::Replay(_) = store.begin(begun, Some(audit(&name))).await.unwrap() {
        return;
    }
    let world: PgConnectOptions = url.parse().unwrap();
    let mut world = world.disable_statement_logging().connect().await.unwrap();
    let done = sqlx::query("INSERT INTO world (key) VALUES ($1)").bind(&name);
    done.execute(&mut world).await.unwrap();
    let _ = world.close().await;
    let batch = Batch {
        effect: Some(EndedEffect {
            key: key(&name),
            owner: owner.to_owned(),
            end: EffectEnd {
                state: EffectState::Succeeded,
                result: Some("7".to_owned()),
                at: now(),
                released: false,
            },
        }),
        audit: Some(AuditRow {
            outcome: Some("ok".to_owned()),
            ..audit(&name)
        }),
        message: Some(message("results", Role::User, None)),
        ..Batch::default()
    };
    EffectLedger::journal(store)
        .unwrap()
        .write(batch)
        .await
        .unwrap();
    say(&format!("ended {name}"));
}

async fn append(store: &PostgresStore, content: &str) {
    let conversation = format!("t{}", random(THREADS));
    let text = NewMessage {
        content: content.to_owned(),
        ..message(&conversation, Role::User, None)
    };
    let seq = store.append(text).await.unwrap();
    say(&format!("appended {conversation} {seq} {content}"));
}

async fn spend(store: &PostgresStore) {
    let id = format!("a{}", random(APPROVALS));
    if store.spend(&acme(), &id, "nonce", now()).await.unwrap() {
        say(&format!("spent {id}"));
    }
}

async fn drive(store: &PostgresStore, owner: &str) {
    let new = NewRun {
        thread: thread(&format!("t{}", random(THREADS))),
        principal: None,
        agent: None,
        owner: owner.to_owned(),
        at: now(),
        lease_until: now().plus(Duration::from_millis(300)),
    };
    let RunBegun::Begun(run) = store.begin_run(new).await.unwrap() else {
        return;
    };
    let until = now().plus(Duration::from_secs(1));
    let renewed = store.renew_run(&run.id, owner, until, RunProgress::default());
    if renewed.await.unwrap().is_none() {
        // The lease has expired, and a different process has taken over the run.
        return;
    }
    let end = RunEnd {
        cause: RunCause::Replied,
        at: now(),
        progress: RunProgress::default(),
    };
    if store.end_run(&run.id, owner, end).await.unwrap() {
        say(&format!(
            "drove {} {}",
            run.id.thread().conversation(),
            run.id.number()
        ));
    }
}

async fn maintain(store: &PostgresStore) {
    store.sweep(Scope::All, now()).await.unwrap();
    ApprovalStore::expire(store, Scope::All, now())
        .await
        .unwrap();
    store.purge(&Retention::default(), now(), 10).await.unwrap();
    let filter = AuditFilter {
        limit: Some(5),
        ..AuditFilter::default()
    };
    store.export(Scope::All, &filter).await.unwrap();
}

/// Settles the effects of processes that were killed, as an operator would: the table `world` shows whether they happened.
async fn settle(store: &PostgresStore, database: &Database) {
    let mut world = database.connect().await;
    // A killed process may have sent a statement that the server still runs.
    loop {
        let left: i64 = sqlx::query_scalar(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'worker'",
        )
        .fetch_one(&mut world)
        .await
        .unwrap();
        if left == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let done: Vec<String> = sqlx::query_scalar("SELECT key FROM world")
        .fetch_all(&mut world)
        .await
        .unwrap();
    let running = EffectLedger::list(store, Scope::All, Some(EffectState::Running));
    for row in running.await.unwrap() {
        let key = row.intent.identity.key();
        let found = if done.iter().any(|done| done == key.as_str()) {
            Resolution::Succeeded("7".to_owned())
        } else {
            Resolution::Rerun
        };
        store.force(&key, found, "olga", now()).await.unwrap();
    }
}

// M5, M6: if four processes are killed at random moments, eight times in a row, no effect happens twice, no confirmed row is lost, and no deadlock
// occurs.
pub(crate) async fn killed_processes_leave_the_store_consistent_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    database
        .tamper("CREATE TABLE public.world (key text NOT NULL)")
        .await;
    for n in 0..APPROVALS {
        let id = format!("a{n}");
        let open = ApprovalRequest {
            identity: named(&id),
            created: now(),
            expires: now().plus(Duration::from_hours(1)),
            ..request(&id)
        };
        store.open(open).await.unwrap();
        let yes = ApprovalAnswer {
            at: now(),
            ..says(Verdict::Approve)
        };
        store.answer(&acme(), &id, yes).await.unwrap();
    }

    let mut lines = Vec::new();
    for _ in 0..8 {
        let url = format!("{}?application_name=worker", database.url);
        let mut workers = [(); 4].map(|()| Worker::start("work", &url));
        workers.iter_mut().for_each(Worker::go);
        tokio::time::sleep(Duration::from_millis(250)).await;
        for worker in workers {
            tokio::time::sleep(Duration::from_millis(random(200))).await;
            lines.extend(worker.kill());
        }
        settle(&store, &database).await;
    }
    verify(&store, &database, &lines).await;
    Ok(())
}

/// Asserts that no name occurs twice.
fn assert_once(names: &[String], fault: &str) {
    let once: BTreeSet<&String> = names.iter().collect();
    assert_eq!(once.len(), names.len(), "{fault}: {names:?}");
}

async fn verify(store: &PostgresStore, database: &Database, lines: &[String]) {
    let mut connection = database.connect().await;
    let confirmed = |what: &'static str| {
        let lines = lines.iter().filter_map(move |line| line.strip_prefix(what));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };

    // Each effect happened at most once and has an audit row, and every confirmed end is stored.
    let world: Vec<String> = sqlx::query_scalar("SELECT key FROM world")
        .fetch_all(&mut connection)
        .await
        .unwrap();
    assert_once(&world, "an effect happened twice");
    let rows = EffectLedger::list(store, Scope::All, None).await.unwrap();
    let stored: BTreeMap<String, &EffectRow> = rows
        .iter()
        .map(|row| (row.intent.identity.key().to_string(), row))
        .collect();
    for name in world.iter().chain(&confirmed("ended ")) {
        assert_eq!(stored[name].state, EffectState::Succeeded, "{name}");
    }
    assert!(
        confirmed("ended ").len() > 20,
        "the processes made too few changes"
    );
    let audits = store.export(Scope::All, &AuditFilter::default()).await;
    let audits: BTreeSet<String> = audits.unwrap().iter().map(key_of).collect();
    for name in stored.keys() {
        assert!(audits.contains(name), "{name} has no audit row");
    }
    let results = ThreadStore::read(store, &thread("results"), None).await;
    assert!(results.unwrap().len() >= confirmed("ended ").len());

    // The messages of a thread have consecutive numbers, and every confirmed message is stored.
    for n in 0..THREADS {
        let conversation = format!("t{n}");
        let messages = ThreadStore::read(store, &thread(&conversation), None).await;
        let messages = messages.unwrap();
        let numbers: Vec<u64> = messages.iter().map(|message| message.seq).collect();
        let all = u64::try_from(numbers.len()).unwrap();
        assert_eq!(numbers, (1..=all).collect::<Vec<_>>());
        let stored: BTreeSet<String> = messages
            .iter()
            .map(|message| format!("{conversation} {} {}", message.seq, message.content))
            .collect();
        for line in confirmed("appended ") {
            assert!(
                !line.starts_with(&conversation) || stored.contains(&line),
                "{line}"
            );
        }
    }
    assert!(
        confirmed("appended ").len() > 20,
        "the processes made too few changes"
    );

    // Each approval was spent at most once.
    let spent = confirmed("spent ");
    assert_once(&spent, "an approval was used twice");
    for id in &spent {
        let row = ApprovalStore::get(store, &acme(), id)
            .await
            .unwrap()
            .unwrap();
        assert_eq!(row.status, ApprovalStatus::Spent);
    }
    assert!(spent.len() > 5, "the processes made too few changes");

    // Each run ended at most once, and a thread has at most one `running` run.
    let runs = store
        .list_runs(Scope::All, &RunFilter::default())
        .await
        .unwrap();
    let driven = confirmed("drove ");
    assert_once(&driven, "a run was ended twice");
    for n in 0..THREADS {
        let conversation = format!("t{n}");
        let own = runs
            .iter()
            .filter(|run| run.id.thread().conversation() == conversation);
        let mut numbers: Vec<u64> = own.clone().map(|run| run.id.number()).collect();
        numbers.sort_unstable();
        let all = u64::try_from(numbers.len()).unwrap();
        assert_eq!(numbers, (1..=all).collect::<Vec<_>>());
        assert!(own.filter(|run| run.state == RunState::Running).count() <= 1);
    }
    assert!(driven.len() > 5, "the processes made too few changes");

    let deadlocks: i64 = sqlx::query_scalar(
        "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    )
    .fetch_one(&mut connection)
    .await
    .unwrap();
    assert_eq!(deadlocks, 0);
}

// M6: a caller that is dropped midway leaves the intent with its audit row, or neither, and later calls of the store succeed.
pub(crate) async fn dropped_caller_leaves_the_store_consistent_case() -> Ran {
    let database = Database::create().await?;
    let store = database.options().open().await.unwrap();
    let mut ended = 0;
    for round in 0..200_usize {
        let name = format!("k{round}");
        let polls = if round % 20 == 19 {
            usize::MAX
        } else {
            round % 20
        };
        let begun = Intent {
            at: now(),
            lease_until: now().plus(Duration::from_mins(1)),
            ..intent(&name)
        };
        let mut begun = pin!(store.begin(begun, Some(audit(&name))));
        for _ in 0..polls {
            let polled = begun.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            if let Poll::Ready(begun) = polled {
                assert_eq!(begun.unwrap(), Begun::New);
                ended += 1;
                break;
            }
            tokio::time::sleep(Duration::from_micros(300)).await;
        }
    }
    assert!(ended > 0 && ended < 200, "{ended} of 200 calls completed");
    // The server ends the transactions whose connections were closed.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let effects = EffectLedger::list(&store, Scope::All, None).await.unwrap();
    let begun: BTreeSet<String> = effects
        .iter()
        .map(|row| row.intent.identity.key().to_string())
        .collect();
    let rows = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    let rows: BTreeSet<String> = rows.iter().map(key_of).collect();
    assert_eq!(begun, rows);
    assert!(begun.len() >= ended);
    Ok(())
}
