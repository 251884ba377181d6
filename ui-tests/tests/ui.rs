//! Programs that must not compile, with a folder for each rule and a file for each mistake. `TRYBUILD=overwrite cargo test -p ui-tests --test ui`
//! accepts rustc's current output, and `UI=<part of a path>` selects programs. The programs are checked but not built, because an editor shows only
//! the errors that `cargo check` finds.

use std::path::{Path, PathBuf};

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

// S0-01, S1-27, S1-28, S1-29, M1 (fail/example, example-result, default-value), M2, M4 (fail/effect), M7 (fail/tool-stream), M8 (fail/secret), M18
// (fail/permit): each mistake is a compile error with the recorded message.
#[test]
fn every_mistake_causes_the_recorded_error() {
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

// S1-27, M2: each recorded text begins with the rule's id, except in the folders of `WITHOUT_ID`, and contains no path of the machine.
#[test]
fn recorded_errors_contain_no_paths_of_the_machine() {
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
                "the recorded text of {at} does not begin with an error"
            );
            for machine in [
                env!("CARGO_MANIFEST_DIR"),
                "/home/",
                "registry/src",
                ".cargo/",
                // If the component `rust-src` is installed, rustc prints the sources of the standard library with this path.
                "$RUST/",
            ] {
                assert!(
                    !kept.contains(machine),
                    "the recorded text of {at} contains `{machine}`"
                );
            }
            let first = kept.lines().next().unwrap_or_default();
            let told = format!("[{id}]");
            assert!(
                first.contains(&told) || WITHOUT_ID.contains(&&*id),
                "the first line of the recorded text of {at} lacks `{told}`"
            );
        }
    }
}

/// Returns the number of errors in the recorded text of a program.
fn errors(program: &Path) -> usize {
    let kept = std::fs::read_to_string(program.with_extension("stderr")).unwrap_or_default();
    let is_error = |line: &&str| line.starts_with("error:") || line.starts_with("error[");
    kept.lines().filter(is_error).count()
}

fn programs(rule: &Path) -> Vec<PathBuf> {
    let is_program = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "rs");
    entries(rule).into_iter().filter(is_program).collect()
}

/// Returns `several/two_faults` for `fail/several/two_faults.rs`.
fn name(program: &Path) -> String {
    let name = program.strip_prefix("fail").unwrap_or(program);
    name.with_extension("").to_string_lossy().into_owned()
}

// M2: one mistake causes one error, except in the programs of `MORE_THAN_ONE`.
#[test]
fn one_mistake_causes_one_error() {
    for rule in entries(Path::new("fail")) {
        for program in programs(&rule) {
            let name = name(&program);
            let told = errors(&program);
            let expected = MORE_THAN_ONE.iter().find(|(known, _)| *known == name);
            let expected = expected.map_or(1, |(_, count)| *count);
            assert_eq!(told, expected, "errors of {name}");
        }
    }
}

/// Programs with several mistakes, or with one mistake that rustc or serde's derive reports twice, and the number of their errors.
const MORE_THAN_ONE: &[(&str, usize)] = &[
    // These programs have several mistakes.
    ("as-type/beyond_form", 7),
    ("as-type/field", 2),
    ("as-type/of_a_variant", 2),
    ("as-type/of_a_whole_type", 4),
    ("as-type/under_integer", 2),
    ("example/several_faults", 3),
    ("map-key/returned", 5),
    ("no-schema/without_derives", 2),
    ("option-word/audit_unknown", 6),
    ("option-word/of_another_crate", 5),
    ("option-word/several_errors_at_once", 4),
    ("return-type/boxed_error", 2),
    ("return-type/in_a_list", 2),
    ("serde-type/integer_by_name", 3),
    ("variant-other/never_applies", 2),
    ("several/macro_rules_tool", 2),
    ("several/syntax_and_documentation", 5),
    ("several/two_fields_of_one_type", 3),
    ("signature/borrowing_type", 2),
    ("option-word/doc_of_a_tool_not_literal", 2),
    // rustc reports additional errors about private fields.
    ("permit/approval_state", 2),
    ("permit/permitted_made", 2),
    // rustc reports an error for every `yield` that it parses.
    ("tool-stream/yield_outside", 2),
    // rustc recovers from `whom.` and reports a second error.
    ("half-typed/body_half_call", 2),
    // rustc passes a struct with a syntax error to each derive, and serde's derive reports the error again.
    ("half-typed/field_without_colon", 2),
    ("half-typed/field_without_type", 2),
];

// Half-typed code causes only one error, except in at most 3 of these programs.
#[test]
fn half_typed_programs_have_no_second_error() {
    let programs = programs(Path::new("fail/half-typed"));
    assert!(
        programs.len() >= 22,
        "only {} programs were found",
        programs.len()
    );
    let more = programs.iter().filter(|program| errors(program) > 1);
    assert!(more.count() <= 3);
}

/// Folders of mistakes without a rule in the catalogue. rustc or the grammar of the macros reports them.
const WITHOUT_ID: &[&str] = &[
    "error-type",
    "half-typed",
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
