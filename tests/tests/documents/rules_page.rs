//! Completeness of `docs/rules.md`: the page has every rule, and the programs that it names exist.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::path::Path;

use tool_core::schema::rules::Rule;

// M2: every rule has a row with its proof.
#[test]
fn every_rule_is_on_the_page_with_its_proof() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/rules.md")).unwrap();
    let row = |id: &str| {
        page.lines()
            .find(|line| line.starts_with(&format!("| `{id}` |")))
    };
    for rule in Rule::all() {
        assert!(
            row(rule.id).is_some(),
            "`{}` is missing from docs/rules.md",
            rule.id
        );
    }
    for folder in std::fs::read_dir(root.join("ui-tests/fail"))
        .unwrap()
        .flatten()
    {
        let id = folder.file_name().into_string().unwrap();
        let row = row(&id).unwrap_or_else(|| panic!("`{id}` is missing from docs/rules.md"));
        assert!(
            row.contains(&format!("`ui-tests/fail/{id}`")),
            "the row of `{id}` does not name its programs"
        );
    }
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let proof = line.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let paths: Vec<&str> = proof.split('`').skip(1).step_by(2).collect();
        assert!(!paths.is_empty(), "the row has no proof: {line}");
        for path in paths {
            assert!(
                root.join(path).exists(),
                "`{path}` does not exist, in: {line}"
            );
        }
    }
}

// Every row is complete and has the number of its programs. Earlier, two rows were cut off at the first quotation mark of their message.
#[test]
fn every_row_is_whole_and_counts_its_programs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/rules.md")).unwrap();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let cells = line.trim_matches('|').split(" | ").count();
        let ticks = line.matches('`').count();
        assert!(
            cells == 4 && ticks % 2 == 0,
            "the row is incomplete: {line}"
        );
        let counted = line.split("`ui-tests/fail/").skip(1);
        for (folder, rest) in counted.map(|named| named.split_once('`').unwrap()) {
            let programs = std::fs::read_dir(root.join("ui-tests/fail").join(folder)).unwrap();
            let is_program = |file: &std::fs::DirEntry| {
                file.path()
                    .extension()
                    .is_some_and(|extension| extension == "rs")
            };
            let programs = programs.flatten().filter(is_program).count();
            let says = format!(" ({programs})");
            assert!(
                rest.starts_with(&says),
                "the folder has {programs} programs, but the row is: {line}"
            );
        }
    }
}
