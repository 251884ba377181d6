//! The tools of all packs on the command line.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::process::Command;

fn packs(arguments: &[&str]) -> (bool, String, String) {
    let root = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_packs"))
        .args(arguments)
        .env("WORKSPACES_ROOT", root.path())
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let success = output.status.success();
    (success, text(&output.stdout), text(&output.stderr))
}

// S4-05: the tools `run_code` and `describe_api`, which the program builds from the other tools, are listed, described
// and called.
#[test]
fn program_built_tools_are_listed_described_and_called() {
    let (_, listed, _) = packs(&["list"]);
    for name in ["read_file", "run_code", "describe_api"] {
        assert!(listed.contains(name), "{listed}");
    }
    let (_, schema, _) = packs(&["schema", "run_code"]);
    assert!(schema.contains("timeout_ms"), "{schema}");
    let code = "return (await tools.list_directory({path: '.'})).total_entries + 42";
    let (ran, out, err) = packs(&["call", "run_code", "--code", code]);
    assert!(ran && out.contains(r#""result": 42"#), "{out}{err}");
    let (ran, _, err) = packs(&["call", "run_cod"]);
    assert!(!ran && err.contains("run_code"), "{err}");
}

#[test]
fn unreadable_policy_is_reported_before_anything_runs() {
    let output = Command::new(env!("CARGO_BIN_EXE_packs"))
        .arg("list")
        .env("PACKS_POLICY", "nowhere.json")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && told.contains("nowhere.json"),
        "{told}"
    );
}
