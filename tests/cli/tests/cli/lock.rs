//! Tests of the `lock` and `diff` commands.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::{DESK, Ran, command, run};

/// Runs this release of the desk in a folder.
fn release(release: &str, folder: &Path, words: &[&str]) -> Ran {
    let mut desk = command(DESK, words);
    desk.env("DESK_RELEASE", release).current_dir(folder);
    run(desk, "")
}

// M3: `diff` classifies each change as breaking or compatible, for callers and for approvals.
#[test]
fn each_change_is_classified_against_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let ran = release("1", at, &["lock"]).succeeds();
    assert_eq!(ran.out, "12 tools locked in tools.lock\n");
    assert_eq!(
        release("1", at, &["diff"]).succeeds().out,
        "nothing changed\n"
    );

    // Each row has a release, whether it breaks callers, and whether it voids approvals.
    for (name, breaking, void) in [
        ("wider", false, true),
        ("narrower", true, true),
        ("sorted", false, false),
    ] {
        let ran = release(name, at, &["diff", "--format", "json"]);
        let json = ran.json();
        assert_eq!(
            ran.code, 1,
            "{name}: `diff` must exit with 1 if a contract changed"
        );
        assert_eq!(json["changed"], true, "{name}");
        assert_eq!(json["breaking"], breaking, "{name}: {json}");
        let voids = if void {
            json!(["print_label"])
        } else {
            json!([])
        };
        assert_eq!(json["void"], voids, "{name}: {json}");
        assert_eq!(
            release(name, at, &["diff", "--breaking"]).code,
            i32::from(breaking),
            "{name}"
        );
        assert_eq!(
            release(name, at, &["diff", "--approvals"]).code,
            i32::from(breaking || void),
            "{name}"
        );
    }
    let people = release("narrower", at, &["diff"]).out;
    assert!(
        people.contains(
            "breaking   print_label argument /text: `maxLength` 10 became 5 (approvals void)"
        ),
        "{people}"
    );
    // Running `lock` again accepts the change.
    release("narrower", at, &["lock"]).succeeds();
    release("narrower", at, &["diff"]).succeeds();
}

// M3: `lock` writes the same text for the same tools, and the text pins the contract of each tool.
#[test]
fn lock_is_deterministic_and_pins_the_contract() {
    let folder = tempfile::tempdir().unwrap();
    let text = |name: &str| {
        release(name, folder.path(), &["lock", "--file", "a.lock"]).succeeds();
        fs::read_to_string(folder.path().join("a.lock")).unwrap()
    };
    let first = text("1");
    assert_eq!(first, text("1"));
    assert!(
        first.starts_with('#') && first.contains("version = 1\n"),
        "{first}"
    );
    let contract = |text: &str| {
        let label = text
            .split("name = \"print_label\"")
            .nth(1)
            .unwrap()
            .to_owned();
        let line = label
            .lines()
            .find(|line| line.starts_with("contract = "))
            .unwrap();
        line.to_owned()
    };
    assert_eq!(contract(&first).len(), "contract = \"\"".len() + 64);
    assert_ne!(contract(&first), contract(&text("wider")));
    assert_eq!(contract(&first), contract(&text("sorted")));
    // A changed tool changes only its own lines of the lock file.
    let wider = text("wider");
    let same = first
        .lines()
        .filter(|line| wider.lines().any(|other| other == *line))
        .count();
    assert!(first.lines().count() - same <= 4, "{wider}");
}

// M3: the error for a missing or invalid lock file explains what to do.
#[test]
fn error_for_a_missing_or_invalid_lock_states_the_fix() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    release("1", at, &["diff"]).fails(
        2,
        &["`tools.lock` cannot be read", "write it with `desk lock`"],
    );
    let write = |text: &str| fs::write(at.join("tools.lock"), text).unwrap();
    write("version = 1\n<<<<<<< HEAD\n");
    release("1", at, &["diff"]).fails(2, &["`tools.lock` is not a lock", "line 2", "help:"]);
    write("version = 7\n");
    release("1", at, &["diff"]).fails(2, &["version 7, not 1"]);
    write("version = 1\nunknown = 2\n");
    release("1", at, &["diff"]).fails(2, &["unknown"]);
    release("1", at, &["lock", "--file", "no/such/folder/tools.lock"])
        .fails(2, &["cannot be written"]);
}
