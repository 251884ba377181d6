//! One folder per rule, one file per mistake: `TRYBUILD=overwrite cargo test -p ui-tests --test ui` blesses what rustc says,
//! `UI=<part of a path>` selects programs. They are checked and not built, as an editor does: what only code generation finds is
//! found too late.

use std::path::{Path, PathBuf};

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

// S0-01, S1-27, S1-28, S1-29, M1 (fail/example, example-result, default-value), M2, M4 (fail/effect), M7 (fail/tool-stream), M8
// (fail/secret), M18 (fail/permit)
#[test]
fn every_mistake_is_told_as_it_was_agreed() {
    let wanted = std::env::var("UI").unwrap_or_default();
    let cases = trybuild::TestCases::new();
    for rule in entries(Path::new("fail")) {
        for program in entries(&rule) {
            let is_program = program
                .extension()
                .is_some_and(|extension| extension == "rs");
            if is_program && program.to_string_lossy().contains(&wanted) {
                cases.compile_fail(program);
            }
        }
    }
}

/// The kept texts say where in the program and what rule, and nothing about the machine they were made on.
// S1-27, M2: the message names its rule
#[test]
fn kept_texts_are_of_the_programs_only() {
    for rule in entries(Path::new("fail")) {
        let id = rule
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        for program in entries(&rule)
            .iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        {
            let kept =
                std::fs::read_to_string(program.with_extension("stderr")).unwrap_or_default();
            let at = program.display();
            assert!(
                kept.starts_with("error"),
                "{at} has no kept text that begins with an error"
            );
            for machine in [
                env!("CARGO_MANIFEST_DIR"),
                "/home/",
                "registry/src",
                ".cargo/",
                // F1: with the component `rust-src` rustc prints the source of the standard library below such a place.
                "$RUST/",
            ] {
                assert!(!kept.contains(machine), "{at} names `{machine}`");
            }
            let first = kept.lines().next().unwrap_or_default();
            let told = format!("[{id}]");
            assert!(
                first.contains(&told) || WITHOUT_ID.contains(&&*id),
                "{at}: the first line has no `{told}`"
            );
        }
    }
}

/// Folders of mistakes that no rule of the catalogue names: rustc's own words, or what the macros' grammar says.
const WITHOUT_ID: &[&str] = &[
    "host",
    "no-schema",
    "option-word",
    "permit",
    "return-type",
    "secret",
    "several",
    "signature",
    "tool-stream",
    "toolset",
];
