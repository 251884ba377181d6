//! The simulator on a PostgreSQL server that this program starts.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::process::ExitCode;

use test_support::Ran;
use world::run::{StoreKind, run};
use world::{generate, quiet_panics};

/// The number of seeds. It is small, because the simulation blocks on each operation of the database.
const SEEDS: u64 = 8;

fn main() -> ExitCode {
    test_support::suite![postgres_and_memory_give_the_same_run_case].run()
}

fn postgres_and_memory_give_the_same_run_case() -> Ran {
    #[cfg(unix)]
    test_support::postgres::server()?;
    quiet_panics();
    for seed in 0..SEEDS {
        let plan = generate::plan(seed);
        let memory = run(&plan, StoreKind::Memory).unwrap();
        let other = run(&plan, StoreKind::Postgres).unwrap();
        assert_eq!(memory.lines, other.lines, "seed {seed}");
        assert_eq!(memory.violations, other.violations, "seed {seed}");
    }
    Ok(())
}
