//! Test that runs the example `wire` with the formats of all providers.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[test]
fn one_loop_works_with_every_provider() {
    let output = tool_tests::cargo::command()
        // Without `-p`, cargo uses the features of the whole workspace, for which the dependencies are already built.
        .args(["run", "--quiet", "--locked", "--example", "wire"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(
        output.status.success(),
        "{stdout}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let count = |line: &str| {
        stdout
            .lines()
            .filter(|printed| printed.trim() == line)
            .count()
    };
    assert_eq!(count(r#"call: days_until {"date":"2026-12-31"}"#), 5);
    assert_eq!(count("model: 39 days. (End)"), 5);
}
