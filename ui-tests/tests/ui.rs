//! One folder per rule, one file per mistake: `TRYBUILD=overwrite cargo test -p ui-tests --test ui` blesses what rustc says,
//! `UI=<part of a path>` selects programs.
//!
//! Proves S0-01, S1-27, S1-28, S1-29, M1, M2, M4, M18 as far as a compiler can say no.

use std::path::{Path, PathBuf};

/// The programs of a folder, in order, whose path holds `$UI`.
fn programs(folder: &str) -> Vec<PathBuf> {
    let wanted = std::env::var("UI").unwrap_or_default();
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        paths.sort();
        paths
    };
    entries(Path::new(folder))
        .iter()
        .flat_map(|rule| entries(rule))
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| path.to_string_lossy().contains(&wanted))
        .collect()
}

/// Checked, not built, as an editor does: what only code generation finds is found too late.
#[test]
fn fail() {
    let cases = trybuild::TestCases::new();
    for program in programs("fail") {
        cases.compile_fail(program);
    }
}

/// Built and run.
#[test]
fn pass() {
    let cases = trybuild::TestCases::new();
    for program in programs("pass") {
        cases.pass(program);
    }
}
