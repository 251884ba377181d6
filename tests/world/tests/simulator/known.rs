//! Regression tests with the kept plans. A plan of an open finding makes its invariant fire; a plan of a fixed finding makes no unexplained invariant
//! fire.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;
use std::path::Path;

use world::known::{open_invariants, plans};
use world::plan::{Plan, State};
use world::run::{Report, StoreKind, run};
use world::{generate, quiet_panics};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/plans"))
}

fn open() -> BTreeSet<String> {
    open_invariants(folder()).unwrap().into_iter().collect()
}

/// Returns the invariants that fired although no open finding explains them.
fn unexplained(report: &Report, open: &BTreeSet<String>) -> Vec<String> {
    let fired = report.violations.iter();
    let fired = fired.filter(|violation| !open.contains(violation.invariant));
    fired
        .map(|violation| format!("{}: {}", violation.invariant, violation.what))
        .collect()
}

fn check(file: &Path, plan: &Plan, open: &BTreeSet<String>) -> Result<(), String> {
    let name = file.display();
    let expect = plan
        .expect
        .as_ref()
        .ok_or_else(|| format!("{name} names no finding"))?;
    let report = run(plan, expect.store)?;
    let is_seen = report.violates(&expect.invariant);
    match expect.state {
        State::Open if !is_seen => Err(format!(
            "{name}: `{}` no longer fires. If {} is fixed, write `\"state\": \"fixed\"`",
            expect.invariant, expect.finding
        )),
        State::Open => Ok(()),
        State::Fixed => {
            // Invariants of open findings may fire too, except for the invariants of this plan.
            let mut open = open.clone();
            for own in std::iter::once(&expect.invariant).chain(&expect.also) {
                open.remove(own);
            }
            match &unexplained(&report, &open)[..] {
                [] => Ok(()),
                fired => Err(format!("{name}: {} is back: {fired:#?}", expect.finding)),
            }
        }
    }
}

#[test]
fn kept_plans_fire_exactly_while_their_finding_is_open() {
    quiet_panics();
    let open = open();
    let plans = plans(folder()).unwrap();
    assert!(!plans.is_empty());
    let failed: Vec<String> = plans
        .iter()
        .filter_map(|(file, plan)| check(file, plan, &open).err())
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn every_violation_is_explained_by_an_open_finding() {
    quiet_panics();
    let open = open();
    let mut failed = Vec::new();
    for seed in 0..300 {
        let report = run(&generate::plan(seed), StoreKind::Memory).unwrap();
        let fired = unexplained(&report, &open);
        failed.extend(fired.into_iter().map(|of| format!("seed {seed}: {of}")));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn seeds_without_colliding_names_keep_conversations_apart() {
    quiet_panics();
    let apart = ["foreign_text", "foreign_question", "ran_unapproved"];
    let mut failed = Vec::new();
    for seed in 0..100 {
        let plan = generate::with_unique_names(generate::plan(seed));
        let report = run(&plan, StoreKind::Memory).unwrap();
        let fired = apart.into_iter().filter(|name| report.violates(name));
        failed.extend(fired.map(|name| format!("seed {seed}: {name}")));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}
