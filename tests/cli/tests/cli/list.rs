//! Tests of the `list` and `schema` commands.

use serde_json::{Value, json};

use crate::support::{CROWD, DESK, command, desk, run};

// S0-02, S1-05, S1-49: `list` prints every linked tool with its category, and the reason why a tool is hidden.
#[test]
fn every_tool_is_listed_with_the_reason_if_hidden() {
    let ran = desk(&["list"]).succeeds();
    let line = |name: &str| {
        ran.out
            .lines()
            .find(|line| line.starts_with(name))
            .expect(name)
    };
    assert!(line("file_note").contains("desk"));
    assert!(
        line("file_note").ends_with("Files a note. Use it when something has to be found again.")
    );
    assert!(line("send_letter").contains("write, destroy, external"));
    assert!(line("forbidden").contains("hidden [deny]"));
    assert!(line("fetch_post").contains("hidden [secrets]"));
    assert!(ran.out.contains("`TOOL_SECRET_BOX_KEY`"), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'), "no colour into a pipe");
    assert!(!ran.out.contains("second paragraph"));
}

// S1-37: a secret in the environment makes its tool visible, and `list` does not print its value.
#[test]
fn secret_in_the_environment_unhides_its_tool_and_is_not_shown() {
    let mut there = command(DESK, &["list", "post"]);
    there.env("TOOL_SECRET_BOX_KEY", "key-4711-xyz");
    let ran = run(there, "").succeeds();
    assert!(!ran.out.contains("hidden"), "{}", ran.out);
    assert!(!ran.out.contains("key-4711-xyz"));
    assert!(ran.out.contains("burn_post") && !ran.out.contains("file_note"));
}

// S1-37: `list` names the secrets that a tool lacks, and does not print the value of any secret. An empty secret counts as missing.
#[test]
fn missing_secret_is_listed_without_any_value() {
    for (key, hidden) in [
        (None, true),
        (Some(""), true),
        (Some("key-4711-xyz"), false),
    ] {
        let mut there = command(DESK, &["list", "--format", "json"]);
        there.env("TOOL_SECRET_OTHER_KEY", "other-4712-xyz");
        if let Some(key) = key {
            there.env("TOOL_SECRET_BOX_KEY", key);
        }
        let ran = run(there, "").succeeds();
        let json = ran.json();
        let tools = json["tools"].as_array().unwrap();
        let secrets: Vec<_> = tools
            .iter()
            .filter(|tool| tool["hidden"]["layer"] == "secrets")
            .collect();
        assert_eq!(secrets.len(), usize::from(hidden), "{key:?}: {}", ran.out);
        for tool in secrets {
            assert_eq!(tool["name"], "fetch_post");
            assert_eq!(
                tool["secrets"],
                json!([{"name": "box_key", "description": null, "required": true}])
            );
            let reason = tool["hidden"]["reason"].as_str().unwrap();
            assert!(
                reason.contains("`box_key`") && reason.contains("`TOOL_SECRET_BOX_KEY`"),
                "{reason}"
            );
        }
        for value in ["key-4711-xyz", "other-4712-xyz"] {
            assert!(!ran.out.contains(value) && !ran.err.contains(value));
        }
    }
}

#[test]
fn json_list_has_every_field() {
    let json = desk(&["list", "--format", "json"]).succeeds().json();
    let tools = json["tools"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.is_sorted());
    let post = tools
        .iter()
        .find(|tool| tool["name"] == "fetch_post")
        .unwrap();
    assert_eq!(post["hidden"]["layer"], "secrets");
    assert_eq!(post["secrets"][0]["name"], "box_key");
    assert_eq!(
        post["variables"][0],
        json!({"name": "STREET", "description": "The street of the letter box.", "required": true})
    );
    let letter = tools
        .iter()
        .find(|tool| tool["name"] == "send_letter")
        .unwrap();
    assert_eq!(letter["effects"], json!(["write", "destroy", "external"]));
    assert_eq!(letter["approval"], "always");
    // The list contains the earlier names of a tool.
    assert_eq!(letter["aliases"], json!(["post_letter"]));
    assert_eq!(post["aliases"], json!([]));
    assert_eq!(letter["hidden"], Value::Null);
    assert_eq!(
        letter["providers"],
        json!(["openai", "anthropic", "gemini", "mcp", "json_schema"])
    );
    assert!(letter["origin"].as_str().unwrap().contains("desk.rs"));
}

#[test]
fn filter_without_matches_is_an_error() {
    desk(&["list", "zebra"]).fails(2, &["no tool has `zebra`", "help:"]);
}

#[test]
fn colour_follows_the_color_flag() {
    assert!(
        desk(&["list", "--color", "always"])
            .succeeds()
            .out
            .contains('\u{1b}')
    );
    assert!(
        !desk(&["list", "--color", "never"])
            .succeeds()
            .out
            .contains('\u{1b}')
    );
    desk(&["list", "--color", "pink"]).fails(2, &["pink", "auto, always, never"]);
}

// S0-05, S0-06: `schema --format json` prints the schema on one line, with descriptions, defaults and the order of the parameters. Without the
// option, the same schema has many lines.
#[test]
fn schema_has_descriptions_defaults_and_the_order_of_parameters() {
    let text = desk(&[
        "schema",
        "file_note",
        "-d",
        "json_schema",
        "--format",
        "json",
    ])
    .succeeds()
    .out;
    let schema: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(schema["properties"]["copies"]["default"], 1);
    assert_eq!(
        schema["properties"]["title"]["description"],
        "The title of the note."
    );
    assert_eq!(text.lines().count(), 1);
    let order: Vec<_> = ["title", "place", "urgency", "tags"]
        .iter()
        .map(|key| text.find(&format!("\"{key}\":")).unwrap())
        .collect();
    assert!(
        order.is_sorted(),
        "the properties are not in the order of the parameters: {text}"
    );

    let people = desk(&["schema", "file_note"]).succeeds().out;
    assert_eq!(serde_json::from_str::<Value>(&people).unwrap(), schema);
    assert!(people.lines().count() > 20);
}

#[test]
fn definition_uses_the_providers_format() {
    let of = |dialect| {
        let words = [
            "schema",
            "print_note",
            "--definition",
            "--dialect",
            dialect,
            "--format",
            "json",
        ];
        desk(&words).succeeds().json()
    };
    assert_eq!(of("openai")["function"]["strict"], true);
    assert_eq!(of("anthropic")["input_schema"]["type"], "object");
    assert_eq!(of("mcp")["annotations"]["readOnlyHint"], true);
    let all = desk(&["schema", "-d", "openai", "--format", "json"])
        .succeeds()
        .json();
    assert_eq!(all.as_array().unwrap().len(), 12);
    let output = desk(&["schema", "file_note", "--output"]).succeeds().out;
    assert!(output.contains("\"place\""));
}

// `schema -d anthropic` does not print a list of tools that Anthropic refuses.
#[test]
fn a_list_that_the_provider_refuses_is_not_printed() {
    let crowd = |words: &[&str]| run(command(CROWD, words), "");
    let refused = crowd(&["schema", "-d", "anthropic"]);
    let words = [
        "anthropic refuses these tools in one request",
        "[limit-strict-tools] the set has 21 tools",
        "name one tool",
    ];
    refused.fails(2, &words);
    assert!(refused.out.is_empty(), "{refused:?}");
    for dialect in ["openai", "gemini", "mcp", "json_schema"] {
        let all = crowd(&["schema", "-d", dialect, "--format", "json"]);
        assert_eq!(all.succeeds().json().as_array().unwrap().len(), 21);
    }
    crowd(&["schema", "tool_7", "-d", "anthropic"]).succeeds();
}

#[test]
fn unknown_name_or_dialect_lists_the_valid_ones() {
    desk(&["schema", "file_not"]).fails(2, &["did you mean `file_note`?"]);
    desk(&["schema", "file_note", "-d", "opanai"]).fails(
        2,
        &["opanai", "openai, anthropic, gemini, mcp, json_schema"],
    );
    desk(&["lisst"]).fails(2, &["lisst", "list"]);
}
