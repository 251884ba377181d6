//! Races of each tool that writes with every other tool.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use crate::actors::{Actor, Turn};
use crate::checks;
use crate::rounds;
use crate::scene::Scene;
use crate::world::{TOKEN, holding};

/// Returns the pairs of actors that `wanted` selects.
fn pairs(wanted: impl Fn(Actor, Actor) -> bool) -> Vec<(Actor, Actor)> {
    let mut pairs = Vec::new();
    for (at, one) in Actor::ALL.into_iter().enumerate() {
        for other in Actor::ALL.into_iter().skip(at) {
            if one.writes() && wanted(one, other) {
                pairs.push((one, other));
            }
        }
    }
    pairs
}

async fn run(pairs: Vec<(Actor, Actor)>) {
    let scene = Arc::new(Scene::new().await);
    // Each call must succeed without a race. Otherwise the outcomes of the races prove nothing.
    let mut works: Vec<Actor> = pairs.iter().flat_map(|pair| [pair.0, pair.1]).collect();
    works.sort_unstable();
    works.dedup();
    for actor in works {
        let turn = Turn {
            actor,
            seat: 0,
            round: 1_000_000,
        };
        scene.reset();
        turn.prepare(&scene);
        if let Err(error) = turn.call(&scene).await {
            panic!("{actor:?} fails without a race: {error}");
        }
    }
    for (number, pair) in pairs.into_iter().enumerate() {
        for round in 0..rounds() {
            // The timeout is long enough for every machine. It serves only to report a pair that hangs.
            let round = number * 10_000 + round;
            let raced = tokio::time::timeout(Duration::from_mins(10), race(&scene, pair, round));
            assert!(raced.await.is_ok(), "{pair:?} does not end");
        }
        println!("{pair:?}: {} rounds", rounds());
        scene.outside.is_unread(&format!("{pair:?}"));
        scene.outside.is_unchanged();
        assert_eq!(
            scene.left_behind(),
            [""; 0].map(std::path::PathBuf::from),
            "{pair:?}"
        );
    }
    assert!(scene.other_server.seen().is_empty());
    assert!(holding(&scene.workspace(), TOKEN).is_empty());
}

async fn race(scene: &Arc<Scene>, (one, other): (Actor, Actor), round: usize) {
    scene.reset();
    let turns = [one, other];
    let turns = [0, 1].map(|seat| Turn {
        actor: turns[seat],
        seat,
        round,
    });
    for turn in &turns {
        turn.prepare(scene);
    }
    let before = fs::read_to_string(scene.file()).unwrap();
    // In each round, one of the calls is delayed by a different time.
    let late = |seat: usize| {
        let milliseconds = if round % 2 == seat { round * 7 % 40 } else { 0 };
        Duration::from_millis(u64::try_from(milliseconds).unwrap())
    };
    let call = |seat: usize| {
        let (scene, late) = (Arc::clone(scene), late(seat));
        tokio::spawn(async move {
            tokio::time::sleep(late).await;
            turns[seat].call(&scene).await
        })
    };
    let (first, second) = (call(0), call(1));
    let (first, second) = (first.await.unwrap(), second.await.unwrap());
    let done = [(&turns[0], &first), (&turns[1], &second)];
    checks::file(scene, &before, done);
    checks::result(scene, &before, done[0], &turns[1]);
    checks::result(scene, &before, done[1], &turns[0]);
    // Delete the branches of this round, because they would slow down later rounds.
    for turn in &turns {
        if matches!(
            turn.actor,
            Actor::Push | Actor::CreateBranch | Actor::DeleteBranch
        ) {
            scene.reset();
            let branch = turn.branch();
            let _ = scene
                .world
                .command(&scene.clone)
                .args(["branch", "-qD", &branch])
                .output();
        }
    }
}

// File tools that run at the same time in one conversation lose no change and return correct results.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_tools_run_concurrently_in_pairs() {
    run(pairs(|one, other| !one.writes_git() && !other.writes_git())).await;
}

// A tool that writes to the repository and any local tool that runs at the same time return correct results.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_tools_run_concurrently_in_pairs() {
    run(pairs(|one, other| {
        (one.writes_git() || other.writes_git()) && !one.is_remote() && !other.is_remote()
    }))
    .await;
}

// A tool that contacts the git server and any other tool that runs at the same time return correct results.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn git_server_tools_run_concurrently_in_pairs() {
    run(pairs(|one, other| one.is_remote() || other.is_remote())).await;
}
