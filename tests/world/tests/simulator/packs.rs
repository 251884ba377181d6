//! Hosts with the packs `memory`, `plan` and `schedule`.

use std::path::Path;

use world::packs::{Plan, plan, run};
use world::plan::State;
use world::quiet_panics;
use world::run::StoreKind;

const SEEDS: u64 = 300;

/// Parts of lines that occur in the traces of the seeds. Without these events, the invariants would prove nothing.
const EVENTS: [&str; 15] = [
    "remember: ok",
    "search_memory: ok",
    "forgets: true",
    "create_execution_plan: ok",
    "create_execution_plan: refused",
    "replace_execution_plan: ok",
    "submit_execution_node_result: ok",
    "resume_execution_plan_run: ok",
    "schedule_task: ok",
    "deletes: true",
    "erases",
    "attempt 1 of",
    "attempt 2 of",
    ": failed",
    "dies",
];

/// A part of the line in the trace that records the death of a process during a run of a scheduled task.
const DEATH_IN_RUN: &str = "died during an attempt of";

// S2-31, S2-40, S2-43, S2-46, S2-47, S2-48: no invariant fires while several processes work on the same memories, plans and tasks, and die.
#[test]
fn packs_keep_their_invariants_on_hosts_that_die() {
    quiet_panics();
    let (mut missing, mut deaths) = (EVENTS.to_vec(), 0);
    for seed in 0..SEEDS {
        let report = run(&plan(seed), StoreKind::Memory).unwrap();
        deaths += u64::from(report.lines.iter().any(|line| line.contains(DEATH_IN_RUN)));
        missing.retain(|event| !report.lines.iter().any(|line| line.contains(event)));
        let trace = report.lines.join("\n");
        assert!(
            report.violations.is_empty(),
            "seed {seed}: {:?}\n{trace}",
            report.violations
        );
    }
    assert_eq!(missing, [""; 0], "no seed has these events");
    assert!(
        deaths > SEEDS / 10,
        "a process died during a run of a task in only {deaths} of {SEEDS} simulations"
    );
}

#[test]
fn run_of_packs_is_the_same_again_and_on_sqlite() {
    quiet_panics();
    for seed in 0..8 {
        let plan = plan(seed);
        let first = run(&plan, StoreKind::Memory).unwrap();
        for kind in [StoreKind::Memory, StoreKind::Sqlite] {
            let again = run(&plan, kind).unwrap();
            assert_eq!(first.lines, again.lines, "seed {seed} on {kind:?}");
            assert_eq!(first.violations, again.violations, "seed {seed}");
        }
    }
}

#[test]
fn plan_of_packs_round_trips_through_json() {
    for seed in 0..SEEDS {
        let plan = plan(seed);
        let read: Plan = serde_json::from_str(&plan.to_json()).unwrap();
        assert_eq!(plan, read);
    }
}

// Each kept plan is of a fixed finding, and no invariant fires without the patch that brings the fault back.
#[test]
fn kept_plans_of_packs_fire_nothing_without_their_patch() {
    quiet_panics();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("plans/packs");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert!(!files.is_empty());
    for file in files {
        let file = file.unwrap().path();
        let text = std::fs::read_to_string(&file).unwrap();
        let plan: Plan = serde_json::from_str(&text).unwrap();
        let expect = plan.expect.as_ref().unwrap();
        assert_eq!(expect.state, State::Fixed, "{}", file.display());
        let report = run(&plan, expect.store).unwrap();
        let fired = &report.violations;
        assert!(fired.is_empty(), "{}: {fired:?}", file.display());
    }
}
