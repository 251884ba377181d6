//! Agents that call each other, on hosts that die at any time.

use world::agents::run;
use world::quiet_panics;
use world::run::StoreKind;

/// The number of seeds. Each is a turn with up to five processes.
const SEEDS: u64 = 200;

#[test]
fn agents_on_hosts_that_die_make_each_effect_once() {
    quiet_panics();
    for seed in 0..SEEDS {
        let report = run(seed, StoreKind::Memory).unwrap();
        let trace = report.lines.join("\n");
        assert!(
            report.violations.is_empty(),
            "seed {seed}: {:?}\n{trace}",
            report.violations
        );
    }
}

#[test]
fn turn_of_agents_is_the_same_again_and_on_sqlite() {
    quiet_panics();
    for seed in 0..5 {
        let first = run(seed, StoreKind::Memory).unwrap();
        assert_eq!(
            first.lines,
            run(seed, StoreKind::Memory).unwrap().lines,
            "seed {seed}"
        );
        assert_eq!(
            first.lines,
            run(seed, StoreKind::Sqlite).unwrap().lines,
            "seed {seed}"
        );
    }
}
