//! Tests of changes that other processes detect: switches, enablement, and queued threads.

use std::time::{Duration, Instant};

use test_support::Ran;
use test_support::postgres::{Proxy, server};
use tokio::time::timeout;
use tool_store::suite::records::at;
use tool_store::*;

use crate::database::Database;

fn kill(tool: &str) -> Switch {
    Switch {
        key: SwitchKey {
            workspace: None,
            kind: SwitchKind::Kill,
            tool: tool.to_owned(),
            source: String::new(),
        },
        on: true,
        by: "olga".to_owned(),
        reason: None,
        at: at(100),
    }
}

/// Waits until a store reports a later version. Returns the time that this took, or `None` after `patience`.
async fn noticed(store: &PostgresStore, version: u64, patience: Duration) -> Option<Duration> {
    let began = Instant::now();
    let changed = timeout(patience, store.changed(version)).await;
    changed.ok().map(|changed| {
        changed.unwrap();
        began.elapsed()
    })
}

/// Sets a switch in one process, and returns the time until a different process noticed the change.
async fn time_to_notice(
    one: &PostgresStore,
    other: &PostgresStore,
    tool: &str,
) -> Option<Duration> {
    let version = other.version().await.unwrap();
    let ((), noticed) = futures::join!(
        async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            one.set(kill(tool)).await.unwrap();
        },
        noticed(other, version, Duration::from_secs(1))
    );
    // A read after the notification returns the new version.
    assert!(other.version().await.unwrap() > version);
    noticed
}

/// Waits until the listener of a store receives notifications.
async fn listens(one: &PostgresStore, other: &PostgresStore) {
    for round in 0..60 {
        if time_to_notice(one, other, &format!("warm up {round}"))
            .await
            .is_some()
        {
            return;
        }
    }
    panic!("no notification was received");
}

// A different process notices a switch within a second after one process has set it.
pub(crate) async fn change_reaches_another_process_by_notification_case() -> Ran {
    let database = Database::create().await?;
    let one = database.options().open().await.unwrap();
    let other = database.options().open().await.unwrap();
    listens(&one, &other).await;
    for round in 0..10 {
        let took = time_to_notice(&one, &other, &format!("tool {round}")).await;
        let took = took.expect("the change is noticed within a second");
        assert!(took < Duration::from_millis(900), "{took:?}");
    }
    // The wait for a version after the latest version does not end.
    let version = other.version().await.unwrap();
    assert_eq!(
        noticed(&other, version, Duration::from_millis(300)).await,
        None
    );
    Ok(())
}

// Other processes also notice a switch that an operator sets together with an audit row.
pub(crate) async fn change_of_an_operator_reaches_another_process_by_notification_case() -> Ran {
    let database = Database::create().await?;
    let one = database.options().open().await.unwrap();
    let other = database.options().open().await.unwrap();
    listens(&one, &other).await;
    for round in 0..5 {
        let version = other.version().await.unwrap();
        let audit = AuditRow::of_operator("acme", "olga", "switch.set", "{}", at(100)).unwrap();
        let switch = kill(&format!("tool {round}"));
        let change = Change::SetSwitch {
            switch,
            expected: Expected::Same(None),
        };
        let request = ChangeRequest {
            change,
            audit,
            key: None,
        };
        one.apply(request).await.unwrap();
        let took = noticed(&other, version, Duration::from_secs(1)).await;
        took.expect("the change is noticed within a second");
        assert!(other.version().await.unwrap() > version);
    }
    Ok(())
}

// S1-36: a different process notices a change of enablement within a second.
pub(crate) async fn enablement_reaches_another_process_by_notification_case() -> Ran {
    let database = Database::create().await?;
    let one = database.options().open().await.unwrap();
    let other = database.options().open().await.unwrap();
    listens(&one, &other).await;
    let support = InstanceId::new("acme", "support");
    let version = async |store: &PostgresStore| store.changed_since(0).await.unwrap().version;
    let mut known = version(&other).await;
    // After each change, the other process notices the change and then reads the new state.
    for round in 0..5 {
        let tool = format!("tool_{round}");
        let mut skill = SkillVersion::new("mail", format!("1.{round}"));
        skill.required_tools = vec![tool.clone()];
        let entry = CatalogueEntry::new(tool.as_str());
        one.reconcile(vec![entry]).await.unwrap();
        one.enable(&support, &tool, "olga", at(1)).await.unwrap();
        known = noticed_enablement(&other, known).await;
        let rows = other.rows(&support).await.unwrap();
        assert!(rows.iter().any(|row| row.tool == tool), "{rows:?}");
        let changed = other.changed_since(known - 1).await.unwrap();
        assert_eq!(changed.instances, std::slice::from_ref(&support));
        one.disable(&support, &tool, "olga").await.unwrap();
        known = noticed_enablement(&other, known).await;
        assert_eq!(other.rows(&support).await.unwrap(), []);
        one.enable_skill(&support, skill, "olga", at(1))
            .await
            .unwrap();
        known = noticed_enablement(&other, known).await;
        assert_eq!(other.rows(&support).await.unwrap().len(), 1);
        one.disable_skill(&support, "mail", "olga").await.unwrap();
        known = noticed_enablement(&other, known).await;
        assert_eq!(other.rows(&support).await.unwrap(), []);
        one.remove_instance(&support).await.unwrap();
        known = noticed_enablement(&other, known).await;
        assert!(other.changed_since(0).await.unwrap().is_all);
    }
    // A sync that changes no row does not end the wait.
    one.reconcile(vec![CatalogueEntry::new("tool_4")])
        .await
        .unwrap();
    let waiting = timeout(Duration::from_millis(300), other.enablement_changed(known));
    assert!(waiting.await.is_err());
    Ok(())
}

/// Waits until a store notices a change of enablement, for at most a second. Returns the new version.
async fn noticed_enablement(store: &PostgresStore, known: u64) -> u64 {
    let changed = timeout(Duration::from_secs(1), store.enablement_changed(known));
    changed
        .await
        .expect("the change is noticed within a second")
        .unwrap();
    let version = store.changed_since(known).await.unwrap().version;
    assert!(version > known);
    version
}

// A change between the read of a version and the wait for a later version is not missed.
pub(crate) async fn change_before_the_wait_is_not_missed_case() -> Ran {
    let database = Database::create().await?;
    let one = database.options().open().await.unwrap();
    let other = database.options().open().await.unwrap();
    listens(&one, &other).await;
    let version = other.version().await.unwrap();
    one.set(kill("early")).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(
        noticed(&other, version, Duration::from_secs(1))
            .await
            .is_some()
    );
    Ok(())
}

// Without a listener, the wait for a change does not end, and a poll reads every change.
pub(crate) async fn change_is_noticed_by_polling_without_notifications_case() -> Ran {
    let database = Database::create().await?;
    let one = database.options().open().await.unwrap();
    let options = database.options().migrator(&database.url).unwrap();
    let other = options.unprepared(true).open().await.unwrap();
    let version = other.version().await.unwrap();
    one.set(kill("send")).await.unwrap();
    assert_eq!(
        noticed(&other, version, Duration::from_millis(500)).await,
        None
    );
    assert!(other.version().await.unwrap() > version);
    assert_eq!(other.in_force().await.unwrap(), [kill("send")]);
    Ok(())
}

/// Returns two stores; the listener of the second store connects through a proxy.
async fn listening_through_proxy(database: &Database) -> (Proxy, PostgresStore, PostgresStore) {
    let proxy = Proxy::start(server().unwrap().address()).await;
    let one = database.options().open().await.unwrap();
    let options = database
        .options()
        .listener(&proxy.url(&database.url))
        .unwrap();
    let other = options.open().await.unwrap();
    listens(&one, &other).await;
    (proxy, one, other)
}

pub(crate) async fn listener_that_lost_its_connection_connects_again_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, one, other) = listening_through_proxy(&database).await;
    for _ in 0..3 {
        let before = proxy.connections();
        proxy.end_all();
        listens(&one, &other).await;
        assert!(proxy.connections() > before);
    }
    Ok(())
}

// The listener replaces a half-open connection. Meanwhile, a poll reads every change.
pub(crate) async fn listener_with_a_half_open_connection_connects_again_case() -> Ran {
    let database = Database::create().await?;
    let (proxy, one, other) = listening_through_proxy(&database).await;
    let before = proxy.connections();
    proxy.half_open();
    assert_eq!(time_to_notice(&one, &other, "silent").await, None);
    let began = Instant::now();
    listens(&one, &other).await;
    assert!(proxy.connections() > before);
    assert!(
        began.elapsed() < Duration::from_secs(15),
        "{:?}",
        began.elapsed()
    );
    Ok(())
}

fn work(conversation: &str, delay: Duration) -> NewWork {
    NewWork {
        thread: ThreadId::new("acme", conversation).unwrap(),
        agent: WorkAgent::new("chief", "1"),
        principal: None,
        facts: None,
        delay,
        at: Timestamp::now(),
    }
}

/// Waits for the next hint of a store for at most a time.
async fn hinted(store: &PostgresStore, hint: &mut u64, patience: Duration) -> bool {
    let next = timeout(patience, store.work_hint(*hint)).await;
    if let Ok(next) = &next {
        *hint = *next.as_ref().unwrap();
    }
    next.is_ok()
}

// A thread that one process queues, wakes or releases, and that is ready at once, wakes the workers of other processes. Many threads at once share
// notifications.
pub(crate) async fn queued_thread_wakes_other_processes_case() -> Ran {
    let database = Database::create().await?;
    let one = database.options().open().await.unwrap();
    let other = database.options().open().await.unwrap();
    let (soon, quiet) = (Duration::from_millis(900), Duration::from_millis(200));
    let mut hint = 0;
    // The listener gives a hint when it has connected, because earlier notifications were lost.
    assert!(hinted(&other, &mut hint, Duration::from_secs(10)).await);
    while hinted(&other, &mut hint, quiet).await {}
    for round in 0..5 {
        let thread = format!("main-{round}");
        one.queue_work(work(&thread, Duration::ZERO), None)
            .await
            .unwrap();
        let began = Instant::now();
        assert!(hinted(&other, &mut hint, soon).await, "round {round}");
        assert!(began.elapsed() < soon);
        while hinted(&other, &mut hint, quiet).await {}
    }
    // A thread that is queued for later gives no hint, because a poll claims it.
    let later = Duration::from_hours(1);
    one.queue_work(work("later", later), None).await.unwrap();
    assert!(!hinted(&other, &mut hint, quiet).await);
    let later = ThreadId::new("acme", "later").unwrap();
    let woken = one.wake_work(&later, Duration::ZERO, Timestamp::now());
    assert!(woken.await.unwrap().is_some());
    assert!(hinted(&other, &mut hint, soon).await);
    while hinted(&other, &mut hint, quiet).await {}

    // A release that queues the thread again wakes the workers. A release to the state `Waiting` wakes no worker.
    for (outcome, wakes) in [
        (WorkOutcome::Again(Duration::ZERO), true),
        (WorkOutcome::Waiting, false),
    ] {
        let claim = WorkClaim {
            agents: vec![WorkAgent::new("chief", "1")],
            worker: "one".to_owned(),
            lease: Duration::from_secs(30),
            limit: 1,
            suspects: 1,
            most_recoveries: 3,
            at: Timestamp::now(),
        };
        let claimed = one.claim_thread(&later, claim).await.unwrap().claimed;
        let token = claimed[0].token.clone().unwrap();
        let released = one.release_work(&later, &token, outcome, Timestamp::now());
        assert!(released.await.unwrap().is_some());
        let patience = if wakes { soon } else { quiet };
        assert_eq!(hinted(&other, &mut hint, patience).await, wakes);
        while hinted(&other, &mut hint, quiet).await {}
    }

    let began = Instant::now();
    let before = hint;
    let many = (0..200).map(|number| {
        let (one, thread) = (&one, format!("many-{number}"));
        async move { one.queue_work(work(&thread, Duration::ZERO), None).await }
    });
    for queued in futures::future::join_all(many).await {
        queued.unwrap();
    }
    assert!(hinted(&other, &mut hint, soon).await);
    while hinted(&other, &mut hint, quiet).await {}
    // At most one notification per 20 ms, and one more for the last thread.
    let most = u64::try_from(began.elapsed().as_millis()).unwrap() / 20 + 2;
    assert!(
        hint - before <= most.min(100),
        "{} notifications",
        hint - before
    );
    Ok(())
}
