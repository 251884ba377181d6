//! The test cases: waiting and cancelled turns, deployments, aborted steps, and killed processes.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use test_support::Ran;
use tool_core::store::{WorkCause, WorkState};

use crate::host::queue;
use crate::world::{World, cx, thread};

/// A time that is longer than every step of the cases.
const LONG: Duration = Duration::from_mins(2);

fn number(variable: &str, default: usize) -> usize {
    let value = std::env::var(variable).ok();
    value.map_or(default, |value| value.parse().unwrap())
}

/// Returns the number of invocations that have not ended.
async fn invocations(world: &World) -> usize {
    let query = "SELECT id FROM sys_invocation WHERE status <> 'completed'";
    world.server.query(query).await.len()
}

// A conversation with tools ends; a call waits for its approval without an invocation; a cancellation ends a waiting turn and a running turn; `sweep`
// sends a message that the engine did not get. The engine's journal contains no content.
pub(crate) async fn turns_run_wait_and_are_cancelled_case() -> Ran {
    let world = World::start(LONG).await?;
    world.submit("tools", "post 2").await;
    let row = world.until("tools", WorkState::Ended).await;
    assert_eq!(row.cause, Some(WorkCause::Done));
    let sent = vec!["sent".to_owned(); 2];
    assert_eq!(
        world.said("tools").await,
        (Some("done by one".to_owned()), sent)
    );
    assert_eq!(world.lines("effects").len(), 2);

    world.submit("approval", "erase").await;
    world.until("approval", WorkState::Waiting).await;
    for _ in 0..100 {
        if invocations(&world).await == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(invocations(&world).await, 0);
    assert_eq!(world.lines("effects").len(), 2);
    world.approve("approval").await;
    world.until("approval", WorkState::Ended).await;
    assert_eq!(world.said("approval").await.1, ["erased"]);
    assert_eq!(world.lines("effects").len(), 3);
    let journal = world.server.query("SELECT * FROM sys_journal").await;
    let journal = serde_json::to_string(&journal).unwrap();
    assert!(journal.contains("step"), "{journal}");
    for content in ["sent", "erase", "done by"] {
        assert!(!journal.contains(content), "{content}: {journal}");
    }

    world.submit("waits", "erase").await;
    world.until("waits", WorkState::Waiting).await;
    assert!(world.client.cancel(&thread("waits")).await.unwrap());
    assert_eq!(world.row("waits").await.state, WorkState::Ended);
    assert_eq!(world.open("waits").await.len(), 0);
    let results = world.said("waits").await.1;
    assert!(
        results.len() == 1 && results[0].contains("stopped"),
        "{results:?}"
    );

    world.submit("runs", "slow").await;
    world.until_lines("asked", 1).await;
    assert!(world.client.cancel(&thread("runs")).await.unwrap());
    assert_eq!(world.row("runs").await.state, WorkState::Ended);
    assert_eq!(world.said("runs").await, (None, Vec::new()));
    assert!(!world.client.cancel(&thread("nobody")).await.unwrap());

    queue(&world.store)
        .submit("chief", "post", &cx("swept"))
        .await
        .unwrap();
    assert_eq!(
        world.client.sweep(Duration::from_hours(1)).await.unwrap(),
        0
    );
    assert_eq!(world.client.sweep(Duration::ZERO).await.unwrap(), 1);
    world.until("swept", WorkState::Ended).await;
    assert_eq!(world.lines("effects").len(), 4);

    assert_eq!(world.server.status("nothread", "message").await, 400);
    // A tool cannot wait for a `drive` of a thread.
    assert!((400..500).contains(&world.server.status("acme%2Ftools", "drive").await));
    Ok(())
}

// Waiting turns have no invocations, so a new deployment continues all of them, and the process of the old deployment is no longer needed.
pub(crate) async fn waiting_turns_continue_on_the_newest_deployment_case() -> Ran {
    let mut world = World::start(LONG).await?;
    let turns = number("TOOL_RESTATE_WAITING", 100);
    let names: Vec<String> = (0..turns).map(|turn| format!("turn {turn}")).collect();
    for name in &names {
        world.submit(name, "erase").await;
    }
    for name in &names {
        world.until(name, WorkState::Waiting).await;
    }
    world.redeploy("two").await;
    for name in &names {
        world.approve(name).await;
    }
    for name in &names {
        world.until(name, WorkState::Ended).await;
        let (last, results) = world.said(name).await;
        assert_eq!(
            (last.as_deref(), &results[..]),
            (Some("done by two"), &["erased".to_owned()][..])
        );
    }
    assert_eq!(world.lines("effects").len(), turns);
    Ok(())
}

// The engine aborts a step that outlives its timeouts. An effect with an unknown outcome is not repeated, and the thread waits for an operator.
pub(crate) async fn aborted_step_does_not_repeat_its_effect_case() -> Ran {
    let world = World::start(Duration::from_secs(1)).await?;
    world.submit("main", "ship").await;
    world.until("main", WorkState::Waiting).await;
    assert_eq!(
        (world.lines("begun").len(), world.lines("effects").len()),
        (1, 0)
    );
    // The effect becomes ambiguous at the latest when its lease expires.
    let mut settled = 0;
    for _ in 0..200 {
        settled = world.settle("main").await;
        if settled > 0 {
            break;
        }
        world.client.answered(&thread("main")).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(
        (
            settled,
            world.lines("begun").len(),
            world.lines("effects").len()
        ),
        (1, 1, 0)
    );
    Ok(())
}

// Processes of the deployment and of the server are killed alternately at random moments. Every turn ends, and each effect whose result the model
// read happened exactly once. No other effect happened.
pub(crate) async fn killed_processes_lose_and_repeat_nothing_case() -> Ran {
    const POSTS: usize = 4;
    let mut world = World::start(LONG).await?;
    let kills = number("TOOL_RESTATE_KILLS", 6);
    let mut random = SystemTime::UNIX_EPOCH.elapsed().unwrap().subsec_nanos();
    let mut names: Vec<String> = Vec::new();
    for kill in 0..kills {
        for _ in 0..2 {
            let name = format!("turn {}", names.len());
            world.submit(&name, &format!("post {POSTS}")).await;
            names.push(name);
        }
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        tokio::time::sleep(Duration::from_millis(u64::from(random >> 16) % 900)).await;
        if kill % 2 == 0 {
            world.kill_host();
            world.restart_host();
        } else {
            world.server.kill();
            world.server.restart();
        }
    }
    let (mut settled, mut sent) = (0, 0);
    for name in &names {
        let mut ended = false;
        for _ in 0..600 {
            // `sweep` starts new invocations for threads whose invocation the engine has lost or killed.
            let _ = world.client.sweep(Duration::from_secs(2)).await;
            let row = world.row(name).await;
            ended = row.state == WorkState::Ended;
            if ended {
                assert_eq!(row.cause, Some(WorkCause::Done));
                break;
            }
            if row.state == WorkState::Waiting {
                settled += world.settle(name).await;
                let _ = world.client.answered(&thread(name)).await;
            }
            tokio::time::sleep(Duration::from_millis(300)).await;
        }
        assert!(ended, "{name}: {:?}", world.row(name).await);
        let (last, results) = world.said(name).await;
        assert_eq!(
            (last.as_deref(), results.len()),
            (Some("done by one"), POSTS),
            "{name}"
        );
        // If a call was dropped before its body began, the model reads that.
        let dropped = "the call was dropped before its end";
        let did = results.iter().filter(|result| *result == "sent").count();
        let did_not = results.iter().filter(|result| *result == dropped);
        assert_eq!(did + did_not.count(), POSTS, "{name}: {results:?}");
        sent += did;
    }
    let effects = world.lines("effects");
    let once: BTreeSet<&String> = effects.iter().collect();
    assert_eq!((effects.len(), once.len()), (sent, sent));
    println!("{kills} kills, {settled} effects settled by an operator");
    Ok(())
}
