//! Tests of the output of failed calls, for people and for models.

use serde_json::Value;

use crate::support::{GALLERY, command, gallery, gallery_with_key, run};

const KEY: &str = "key-4711-xyz";

// Earlier bug: a panic printed the secret.
#[test]
fn panic_message_contains_no_secret() {
    for words in [
        &["call", "panic_with_key"][..],
        &["call", "panic_with_key", "--format", "json"],
        &["call", "panic_with_key", "--model"],
    ] {
        let ran = gallery_with_key(words, KEY);
        ran.fails(1, &["panicked at", "key [secret:tracker_key]"]);
        assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
    }
}

#[test]
fn panic_under_serve_prints_no_secret() {
    let mut serve = command(GALLERY, &["serve"]);
    serve.env("TOOL_SECRET_TRACKER_KEY", KEY);
    let ran = run(
        serve,
        concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
            "\n",
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic_with_key","arguments":{}}}"#,
            "\n",
        ),
    );
    ran.fails(0, &["panicked at", "key [secret:tracker_key]"]);
    assert!(!format!("{ran:?}").contains(KEY), "{ran:?}");
}

// Earlier bug: `--model` printed the text for the operator.
#[test]
fn model_option_prints_the_error_that_the_model_reads() {
    for tool in ["query_database", "read_config"] {
        let ran = gallery(&["call", tool, "--model"]);
        assert_eq!(ran.code, 1, "{ran:?}");
        let printed = format!("{}{}", ran.out, ran.err);
        assert!(!printed.contains("hunter22"), "{ran:?}");
        let whole = gallery(&["call", tool, "--format", "json"]).json();
        // The audit id differs from call to call.
        let text = whole["model"].as_str().unwrap();
        let text = text.split(" audit id").next().unwrap();
        assert!(ran.out.starts_with(text), "`{text}`: {ran:?}");
        assert!(
            whole["error"]["text"]
                .as_str()
                .unwrap()
                .contains("hunter22")
        );
    }
    // Without `--model`, the program prints the text for the operator.
    gallery(&["call", "query_database"]).fails(1, &["hunter22"]);
}

#[test]
fn model_option_prints_how_a_call_is_repaired() {
    let ran = gallery(&["call", "draw_pixel", "--model"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.out.contains("/name"), "{ran:?}");
}

// Earlier bug: no message explained how a program supplies a host value.
#[test]
fn missing_host_value_is_explained_and_supplied_by_the_program() {
    let ran = gallery(&["call", "count_up"]);
    ran.fails(1, &["Counter", "help:", "Cli::new().context(|cx| cx.with("]);
    let json = gallery(&["call", "count_up", "--format", "json"]);
    assert_eq!(json.json()["error"]["kind"], "unavailable");
    assert_eq!(json.code, 1);
    let mut there = command(GALLERY, &["call", "count_up"]);
    there.env("GALLERY_COUNTER", "1");
    assert_eq!(run(there, "").succeeds().out, "1\n");
}

// Earlier bug: with `--format json`, the error for a wrong flag was plain text.
#[test]
fn wrong_flag_errors_are_json_with_format_json() {
    for words in [
        &["call", "count_up", "--format", "json", "--bogus"][..],
        &["--format", "json", "call", "draw_pixel", "--nmae", "x"],
        &["list", "--format=json", "--bogus"],
        &["schema", "--format", "json", "-d", "nobody"],
        &["call", "draw_pixel", "--format", "json", "--name"],
    ] {
        let ran = gallery(words);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{ran:?}");
        let error: Value = serde_json::from_str(ran.err.trim()).unwrap();
        assert_eq!(error["error"], "usage", "{error}");
        let text = error["text"].as_str().unwrap();
        assert!(!text.is_empty() && !text.starts_with("error"), "{error}");
        assert!(!text.contains("Usage:"), "{error}");
    }
    // `--help` is not an error.
    let help = gallery(&["call", "draw_pixel", "--format", "json", "--help"]).succeeds();
    assert!(help.out.contains("--name"), "{help:?}");
}

// Earlier bug: the error advised the author to derive a schema for an image.
#[test]
fn output_schema_of_a_file_is_explained() {
    let ran = gallery(&["schema", "draw_pixel", "--output"]);
    ran.fails(2, &["files", "have no schema"]);
}

// Earlier bug: hints did not name the program.
#[test]
fn hints_and_help_name_the_program() {
    let help = gallery(&["call", "draw_pixel", "--help"]).succeeds().out;
    assert!(help.contains("Usage: gallery call draw_pixel"), "{help}");
    gallery(&["call", "draw_pixel"]).fails(2, &["`gallery call draw_pixel --help`"]);
    gallery(&["call"]).fails(2, &["`gallery call NAME --help`", "`gallery list`"]);
    gallery(&["call", "nobody"]).fails(2, &["`gallery list`"]);
    let help = gallery(&["call", "--help"]).succeeds().out;
    assert!(help.contains("Usage: gallery call [OPTIONS]"), "{help}");
}

// Earlier bug: a secret that no tool declares was ignored.
#[test]
fn unknown_secret_or_variable_is_refused() {
    let words = ["call", "keep_key", "--secret", "trackr_key=env:HOME"];
    gallery(&words).fails(2, &["`trackr_key`", "did you mean `tracker_key`?"]);
    gallery(&["list", "--secret", "abc=env:HOME"]).fails(2, &["`abc`", "`tracker_key`"]);
    gallery(&["list", "--variable", "STREET=Elm"]).fails(2, &["`STREET`"]);
}

// Earlier bug: a secret that is too short was reported as absent.
#[test]
fn short_secret_is_reported_with_the_minimum_length() {
    let ran = gallery_with_key(&["call", "keep_key"], "ab");
    ran.fails(2, &["`tracker_key`", "2 bytes", "at least 6"]);
    assert!(!ran.err.contains("absent"), "{ran:?}");
}

// Earlier bug: `list` did not show which tools need approval.
#[test]
fn list_shows_which_tools_need_approval() {
    let out = gallery(&["list"]).succeeds().out;
    let row = |name: &str| {
        let row = out.lines().find(|line| line.starts_with(name)).unwrap();
        row.split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(row("NAME")[3], "APPROVAL");
    assert!(row("ask_first").contains(&"always".to_owned()), "{out}");
    assert!(!row("draw_pixel").contains(&"always".to_owned()), "{out}");
}
