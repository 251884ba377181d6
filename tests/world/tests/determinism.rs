//! One seed is one run.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::process::Command;

use world::plan::Plan;
use world::run::{StoreKind, run};
use world::{generate, quiet_panics};

const SEEDS: u64 = 100;

fn hashes() -> String {
    let hash = |seed| run(&generate::plan(seed), StoreKind::Memory).unwrap().hash;
    let lines = (0..SEEDS).map(|seed| format!("{seed} {:016x}", hash(seed)));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

#[test]
fn a_seed_gives_the_same_run_again_and_in_another_process() {
    quiet_panics();
    let first = hashes();
    assert_eq!(first, hashes());
    let seeds = format!("0..{SEEDS}");
    let child = Command::new(env!("CARGO_BIN_EXE_world"))
        .args(["hashes", "--seeds", &seeds])
        .output()
        .unwrap();
    assert_eq!(first, String::from_utf8(child.stdout).unwrap());
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
fn a_plan_survives_its_file() {
    for seed in 0..SEEDS {
        let plan = generate::plan(seed);
        let read: Plan = serde_json::from_str(&plan.to_json()).unwrap();
        assert_eq!(plan, read);
    }
}
