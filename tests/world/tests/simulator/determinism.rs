//! Determinism of the simulator: a seed always produces the same run.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::process::{Command, Stdio};

use world::plan::Plan;
use world::run::{StoreKind, run};
use world::{generate, quiet_panics};

const SEEDS: u64 = 1_000;

fn hashes(seeds: u64) -> String {
    let hash = |seed| run(&generate::plan(seed), StoreKind::Memory).unwrap().hash;
    let lines = (0..seeds).map(|seed| format!("{seed} {:016x}", hash(seed)));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn a_seed_gives_the_same_run_in_another_process() {
    quiet_panics();
    let seeds = format!("0..{SEEDS}");
    let child = Command::new(env!("CARGO_BIN_EXE_world"))
        .args(["hashes", "--seeds", &seeds])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let first = hashes(SEEDS);
    let other = child.wait_with_output().unwrap();
    assert_eq!(first, String::from_utf8(other.stdout).unwrap());
}

#[test]
fn a_seed_gives_the_same_run_again() {
    quiet_panics();
    assert_eq!(hashes(100), hashes(100));
}

#[test]
fn sqlite_and_memory_give_the_same_run() {
    quiet_panics();
    for seed in 0..15 {
        let plan = generate::plan(seed);
        let memory = run(&plan, StoreKind::Memory).unwrap();
        let sqlite = run(&plan, StoreKind::Sqlite).unwrap();
        assert_eq!(memory.lines, sqlite.lines, "seed {seed}");
        assert_eq!(memory.violations, sqlite.violations, "seed {seed}");
    }
}

#[test]
fn plan_round_trips_through_json() {
    for seed in 0..SEEDS {
        let plan = generate::plan(seed);
        let read: Plan = serde_json::from_str(&plan.to_json()).unwrap();
        assert_eq!(plan, read);
    }
}
