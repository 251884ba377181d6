//! The tools of all packs on the command line.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::Value;

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

// S2-28, S2-36: every tool runs without a key, or is hidden and names the secrets that it lacks; with them, it is visible.
#[test]
fn each_tool_without_its_key_names_the_secret() {
    let (_, listed, _) = packs(&["list", "--format", "json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let mut hidden = BTreeMap::new();
    for tool in listed["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let secrets = tool["secrets"].as_array().unwrap().iter();
        let required: Vec<&str> = secrets
            .filter(|secret| secret["required"] == true)
            .map(|secret| secret["name"].as_str().unwrap())
            .collect();
        if required.is_empty() {
            continue;
        }
        assert!(!tool["hidden"].is_null(), "{name} lacks {required:?}");
        let reason = tool["hidden"]["reason"].as_str().unwrap();
        if tool["hidden"]["layer"] == "secrets" {
            assert!(
                required.iter().any(|secret| reason.contains(*secret)),
                "{name}: {reason}"
            );
        }
        hidden.insert(name.to_owned(), required.join(", "));
    }
    let secret = |tool: &str| hidden.get(tool).map(String::as_str);
    assert_eq!(secret("post_slack_message"), Some("slack_bot_token"));
    assert_eq!(secret("create_github_issue"), Some("github_token"));
    assert_eq!(secret("create_hubspot_contact"), Some("hubspot_api_key"));
    assert_eq!(
        secret("send_whatsapp_template"),
        Some("twilio_account_sid, twilio_auth_token")
    );
    // The documentation of the program names the same secrets.
    let docs = include_str!("../src/main.rs");
    for secrets in hidden.values() {
        for secret in secrets.split(", ") {
            assert!(docs.contains(&format!("`{secret}`")), "{secret}");
        }
    }
    let listed = Command::new(env!("CARGO_BIN_EXE_packs"))
        .args(["list", "post_slack"])
        .env("TOOL_SECRET_SLACK_BOT_TOKEN", "xoxb-1-2-abc")
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout);
    assert!(
        listed.contains("post_slack_message") && !listed.contains("hidden"),
        "{listed}"
    );
}
