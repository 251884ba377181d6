//! Tests of the `check` command.

use serde_json::json;

use crate::support::{DESK, command, desk, run};

// M2: `check` prints whether each provider accepts each tool.
#[test]
fn every_provider_has_a_verdict_on_every_tool() {
    let ran = desk(&["check", "--format", "json"]).succeeds();
    let json = ran.json();
    assert_eq!(json["ok"], true);
    let tools = json["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 12);
    for tool in tools {
        let verdicts = tool["verdicts"].as_array().unwrap();
        assert_eq!(verdicts.len(), 5);
        assert!(
            verdicts
                .iter()
                .all(|verdict| verdict["verdict"] == "accepted"),
            "{tool}"
        );
    }
    let people = desk(&["check", "file_note"]).succeeds().out;
    assert!(people.contains("1 tool, 0 errors"), "{people}");
    desk(&["check", "file_nite"]).fails(2, &["did you mean `file_note`?"]);
    assert_eq!(json["findings"], json!([]));
}

// M2: a missing description is a warning, and the command fails with `--strict`.
#[test]
fn missing_description_is_a_warning_and_fails_strict_mode() {
    let check = |words: &[&str]| {
        let mut check = command(DESK, words);
        check.env("DESK_RELEASE", "silent");
        run(check, "")
    };
    let ran = check(&["check", "print_label"]).succeeds();
    assert!(
        ran.out
            .contains("[field-description-missing] print_label/text"),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("1 tool, 0 errors, 1 warning"),
        "{}",
        ran.out
    );
    let ran = check(&["check", "--strict", "--format", "json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let json = ran.json();
    assert_eq!(json["ok"], false);
    assert_eq!(json["findings"][0]["level"], "warning");
    assert_eq!(json["findings"][0]["tool"], "print_label");
}

// The reported length includes the bounds and examples, which are sent as a part of the description.
#[test]
fn long_description_is_a_warning_with_its_length() {
    let mut check = command(DESK, &["check", "print_label", "--format", "json"]);
    check.env("DESK_RELEASE", "wordy");
    let json = run(check, "").succeeds().json();
    let finding = &json["findings"][0];
    assert_eq!(finding["rule"], "tool-description-long");
    assert_eq!(
        finding["text"],
        "the description has 1599 characters with the bounds and examples that it states: some clients cut it after 1024, move detail to the fields"
    );
}
