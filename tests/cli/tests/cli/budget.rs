//! Tests of the `budget` command.

use serde_json::Value;

use crate::support::desk;

fn tokens(json: &Value, name: &str, dialect: &str) -> u64 {
    let tools = json["tools"].as_array().unwrap();
    let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
    let counts = tool["counts"].as_array().unwrap();
    let count = counts
        .iter()
        .find(|count| count["dialect"] == dialect)
        .unwrap();
    count["tokens"].as_u64().unwrap()
}

// M12: `budget` counts the o200k tokens of exactly the bytes that are sent to each provider.
#[test]
fn budget_counts_o200k_tokens_of_the_sent_bytes() {
    let json = desk(&["budget", "--format", "json"]).succeeds().json();
    assert_eq!(json["tokenizer"], "o200k_base");
    for dialect in ["openai", "anthropic", "gemini", "mcp", "json_schema"] {
        let words = [
            "schema",
            "print_note",
            "--definition",
            "-d",
            dialect,
            "--format",
            "json",
        ];
        let sent = desk(&words).succeeds().out;
        let expected = tiktoken_rs::o200k_base()
            .unwrap()
            .encode_ordinary(sent.trim_end())
            .len();
        assert_eq!(
            tokens(&json, "print_note", dialect),
            expected as u64,
            "{dialect}"
        );
    }
    for count in json["total"].as_array().unwrap() {
        assert_eq!(count["estimate"], count["dialect"] != "openai", "{count}");
    }
    let people = desk(&["budget"]).succeeds();
    assert!(
        people.out.lines().next().unwrap().contains("~anthropic"),
        "{}",
        people.out
    );
    assert!(
        people.err.contains("`~` marks an estimate"),
        "{}",
        people.err
    );
}

// M12: the exit code is 1 if one tool or the whole list exceeds its token limit.
#[test]
fn exceeded_token_limit_sets_the_exit_code() {
    let json = desk(&["budget", "--format", "json", "-d", "openai"])
        .succeeds()
        .json();
    let (small, large) = (
        tokens(&json, "wait_long", "openai"),
        tokens(&json, "file_note", "openai"),
    );
    assert!(small < large);
    let limit = |limit: u64, name: &str| {
        desk(&[
            "budget",
            name,
            "-d",
            "openai",
            "--limit",
            &limit.to_string(),
        ])
    };
    limit(large, "file_note").succeeds();
    limit(large - 1, "file_note").fails(1, &["`file_note` has", "for openai", "shorten its texts"]);
    limit(small, "wait_long").succeeds();
    let total = json["total"][0]["tokens"].as_u64().unwrap();
    assert!(total > large);
    desk(&[
        "budget",
        "-d",
        "openai",
        "--total-limit",
        &total.to_string(),
    ])
    .succeeds();
    let ran = desk(&[
        "budget",
        "-d",
        "openai",
        "--total-limit",
        &(total - 1).to_string(),
        "--format",
        "json",
    ]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.json()["ok"], false);
    desk(&["budget", "nope"]).fails(2, &["there is no tool `nope`"]);
    desk(&["budget", "--limit", "few"]).fails(2, &["few"]);
}
