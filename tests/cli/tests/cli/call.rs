//! Tests of the `call` command, run from a script without a terminal.

use serde_json::{Value, json};

use crate::support::{DESK, command, desk, run};

fn output(words: &[&str]) -> Value {
    let ran = desk(words).succeeds();
    serde_json::from_str(&ran.out).unwrap_or_else(|_| Value::from(ran.out.trim_end()))
}

// S0-06, S0-07: the flags of a tool are derived from its schema, with types and defaults.
#[test]
fn flags_are_made_from_the_schema() {
    let filed = output(&[
        "call",
        "file_note",
        "--title",
        "-1 day",
        "--place.shelf",
        "a",
        "--place.board",
        "3",
        "--urgency",
        "high",
        "--tags",
        "x",
        "--tags",
        "y z",
        "--copies=2",
        "--keep-for-ever",
        "--weight",
        "1e1",
    ]);
    assert_eq!(
        filed,
        json!({
            "title": "-1 day",
            "place": {"shelf": "a", "board": 3},
            "said": "Some(High) [\"x\", \"y z\"] 2 true Some(10.0)"
        })
    );
    // A flag may also be spelled like the property of the schema, and a record may be passed as JSON.
    let filed = output(&[
        "call",
        "file_note",
        "--title",
        "t",
        "--place",
        r#"{"shelf":"b","board":null}"#,
        "--keep_for_ever=false",
    ]);
    assert_eq!(filed["place"], json!({"shelf": "b", "board": null}));
    assert_eq!(filed["said"], "None [] 1 false None");
}

#[test]
fn json_comes_from_an_argument_a_file_or_the_standard_input() {
    let text = r#"{"title":"t","place":{"shelf":"s"}}"#;
    assert_eq!(output(&["call", "file_note", "--json", text])["title"], "t");
    let ran = run(command(DESK, &["call", "file_note", "--json", "-"]), text).succeeds();
    assert!(ran.out.contains("\"shelf\": \"s\""));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("note.json");
    std::fs::write(&file, text).unwrap();
    let at = format!("@{}", file.display());
    assert_eq!(output(&["call", "--json", &at, "file_note"])["title"], "t");
    desk(&["call", "file_note", "--json", "@/nowhere/note.json"]).fails(2, &["/nowhere/note.json"]);
}

#[test]
fn tool_flag_after_the_name_wins_over_a_cli_option() {
    assert_eq!(
        output(&["call", "print_note", "--format", "pdf"]),
        "printed as pdf"
    );
    let ran = desk(&["call", "--format", "json", "print_note", "--format", "pdf"]).succeeds();
    assert_eq!(ran.json()["output"], "printed as pdf");
    let ran = desk(&["call", "count_pages", "--pages", "0", "--format", "json"]).succeeds();
    assert_eq!(ran.json()["output"], 0);
}

#[test]
fn help_describes_each_argument() {
    let help = desk(&["call", "file_note", "--help"]).succeeds().out;
    for part in [
        "--place.shelf <TEXT>",
        "[default: 1, 1 to 9]",
        "- high: The note is for today.",
        "The title of the note. [required]",
        "second paragraph",
    ] {
        assert!(help.contains(part), "`{part}` is not in {help}");
    }
}

// A flag sets an empty list.
#[test]
fn empty_list_has_its_own_flag() {
    assert_eq!(
        output(&["call", "draw_figures", "--no-figures"]),
        "[] [1] Solid"
    );
    let both = ["call", "draw_figures", "--no-figures", "--no-layers"];
    assert_eq!(output(&both), "[] [] Solid");
    let point = ["call", "draw_figures", "--figures", r#"{"kind":"point"}"#];
    assert_eq!(output(&point), "[Point] [1] Solid");
    desk(&["call", "draw_figures", "--no-figures", "--figures", "{}"])
        .fails(2, &["--no-figures", "cannot be used with", "--figures"]);
    // Only lists have a `--no-…` flag.
    desk(&["call", "draw_figures", "--no-line", "--no-figures"]).fails(2, &["--no-line"]);
}

// `call NAME --help` prints the variants of nested enums.
#[test]
fn help_shows_the_variants_of_nested_enums() {
    let help = desk(&["call", "draw_figures", "--help"]).succeeds().out;
    // The help text is wrapped, so compare it word by word.
    let words: Vec<&str> = help.split_whitespace().collect();
    let help = words.join(" ");
    for part in [
        r#"{"kind": "circle", "radius": NUMBER, "line"?: "solid" or "dashed"} or {"kind": "point"}"#,
        "- solid: A line without gaps. - dashed: A line with gaps.",
        "[one flag per item; `--no-figures` for an empty list]",
    ] {
        assert!(help.contains(part), "`{part}` is not in {help}");
    }
}

// S0-07: a wrong argument is reported by the name of its flag.
#[test]
fn wrong_arguments_are_reported_by_flag_name() {
    desk(&["call", "file_note", "--titel", "x"]).fails(2, &["--titel", "--title"]);
    desk(&["call", "file_note", "--title", "x", "--copies", "many"])
        .fails(2, &["many", "--copies", "write a whole number"]);
    desk(&["call", "file_note", "--urgency", "now"]).fails(2, &["now", "high, low"]);
    desk(&["call", "file_note", "--place", "{shelf"]).fails(2, &["--place", "write JSON here"]);
    desk(&[
        "call",
        "file_note",
        "--place",
        r#"{"shelf":"a"}"#,
        "--place.board",
        "1",
    ])
    .fails(
        2,
        &["`--place` and `--place.board` set the same value", "help:"],
    );
    desk(&["call", "file_note", "--copies", "12"]).fails(
        2,
        &[
            "--copies (/copies): expected a whole number from 1 to 9, found the number 12",
            "--title",
            "--place",
        ],
    );
    desk(&["call", "file_note", "--json", "{\"title\":"]).fails(2, &["the arguments do not fit"]);
    desk(&["call", "file_note", "--json", "{}", "--title", "x"])
        .fails(2, &["both as `--json` and as flags"]);
    desk(&["call"]).fails(2, &["the name of the tool is missing", "list"]);
    desk(&["call", "flie_note"]).fails(2, &["did you mean `file_note`?"]);
}

// M9: if the tool fails, the exit code is 1, not the code for wrong usage.
#[test]
fn failed_tool_does_not_exit_as_wrong_usage() {
    let ran = desk(&["call", "burn_post"]);
    ran.fails(1, &["failed: there is no fire, light one first"]);
    assert_eq!(ran.out, "");
    let ran = desk(&["call", "burn_post", "--format", "json"]);
    assert_eq!(ran.code, 1);
    let json = ran.json();
    assert_eq!(
        (&json["ok"], &json["error"]["kind"]),
        (&json!(false), &json!("failed"))
    );
    assert_eq!(json["model"], "there is no fire, light one first");
    assert_eq!(json["output"], Value::Null);
}

// S2-21, M7: progress is printed on standard error, and standard output has only the result. With `--format json`, each step and the result are lines
// of JSON on standard output.
#[test]
fn progress_is_printed_on_stderr_or_in_json_lines() {
    let ran = desk(&["call", "count_pages", "--pages", "2"]).succeeds();
    assert_eq!(ran.out, "2\n");
    assert!(
        ran.err
            .contains(r#"{"done":1,"total":2,"heading":"chapter 1"}"#),
        "{}",
        ran.err
    );
    let ran = desk(&["call", "count_pages", "--pages", "2", "--format", "json"]).succeeds();
    let lines: Vec<Value> = ran
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(
        lines[1],
        json!({"event": "progress", "tool": "count_pages", "value": {"done": 2, "total": 2, "heading": "chapter 2"}})
    );
    assert_eq!(
        (&lines[2]["event"], &lines[2]["output"]),
        (&json!("done"), &json!(2))
    );
}

// S2-12, S0-21: a call that needs approval runs only with `--approve`.
#[test]
fn approval_needs_a_flag_and_is_never_assumed() {
    let letter = ["call", "send_letter", "--to", "ann", "--text", "hi"];
    desk(&letter).fails(3, &["approved by a person", "--approve"]);
    let with = |word| desk(&[&letter[..], &[word]].concat());
    assert_eq!(with("--approve").succeeds().out, "sent to ann: hi\n");
    with("--deny").fails(3, &["denied"]);
    let json = desk(&[&letter[..], &["--format", "json"]].concat());
    assert_eq!(json.code, 3);
    assert_eq!(json.json()["error"]["kind"], "pending");
    assert_eq!(
        json.json()["error"]["approvals"].as_array().unwrap().len(),
        1
    );
}

// A tool that calls other tools can call the tools of the program, and `--approve` covers the nested calls.
#[test]
fn tool_that_calls_others_is_called_and_its_calls_are_approved() {
    let letters = ["call", "send_letters", "--text", "hi"];
    desk(&letters).fails(3, &["approved by a person", "--approve"]);
    let approved = desk(&[&letters[..], &["--approve", "--format", "json"]].concat());
    assert_eq!(
        approved.succeeds().json()["output"],
        json!(["sent to ann: hi", "sent to bob: hi"])
    );
    desk(&[&letters[..], &["--deny"]].concat()).fails(3, &["denied"]);
}

// S0-21: a call of a hidden tool is refused, and the error names the layer that hides the tool, such as `[deny]`.
#[test]
fn hidden_tool_is_refused_with_the_reason() {
    desk(&["call", "forbidden"]).fails(3, &["[deny]"]);
}

// `--format` may come after the tool's name, and applies to errors as well.
#[test]
fn format_flag_position_does_not_change_json_errors() {
    for words in [
        ["--format", "json", "call", "forbidden"],
        ["call", "--format", "json", "forbidden"],
        ["call", "forbidden", "--format", "json"],
    ] {
        let ran = desk(&words);
        assert_eq!(ran.code, 3, "{ran:?}");
        let error: serde_json::Value = serde_json::from_str(ran.err.trim()).unwrap();
        assert_eq!(error["error"], "refused", "{words:?}");
        assert!(
            error["text"].as_str().unwrap().contains("[deny]"),
            "{error}"
        );
    }
}

// M8: secrets come from the environment or a file, and are redacted in the output.
#[test]
fn secrets_come_from_the_environment_or_a_file_and_never_leak() {
    const KEY: &str = "key-4711-xyz";
    desk(&["call", "fetch_post"]).fails(3, &["[secrets]", "TOOL_SECRET_BOX_KEY"]);
    let mut there = command(DESK, &["call", "fetch_post", "--variable", "STREET=Elm"]);
    there.env("TOOL_SECRET_BOX_KEY", KEY);
    let ran = run(there, "").succeeds();
    assert_eq!(
        ran.out,
        "opened the box in Elm with 12 letters of key [secret:box_key]\n"
    );

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key");
    std::fs::write(&file, format!("{KEY}\n")).unwrap();
    let source = format!("box_key=file:{}", file.display());
    let mut there = command(
        DESK,
        &[
            "call",
            "fetch_post",
            "--secret",
            &source,
            "--format",
            "json",
        ],
    );
    there.env("TOOL_VARIABLE_STREET", "Oak");
    let ran = run(there, "").succeeds();
    assert_eq!(
        ran.json()["output"],
        "opened the box in Oak with 12 letters of key [secret:box_key]"
    );

    let ran = desk(&["call", "fetch_post", "--secret", &format!("box_key={KEY}")]);
    ran.fails(
        2,
        &["`box_key`", "other users can see a value", "env:VARIABLE"],
    );
    assert!(!ran.err.contains(KEY), "{}", ran.err);
    desk(&[
        "call",
        "fetch_post",
        "--secret",
        "box_key=env:NOT_THERE_AT_ALL",
    ])
    .fails(2, &["NOT_THERE_AT_ALL"]);
}

// S4-18: a missing variable is reported with its name and description.
#[test]
fn missing_variable_is_reported_by_name() {
    let mut there = command(DESK, &["call", "fetch_post"]);
    there.env("TOOL_SECRET_BOX_KEY", "key-4711-xyz");
    run(there, "").fails(
        3,
        &[
            "STREET",
            "The street of the letter box",
            "TOOL_VARIABLE_STREET",
            "--variable NAME=VALUE",
        ],
    );
}

// M15: without a terminal, the call fails when the tool asks the user.
#[test]
fn question_without_a_terminal_fails_the_call() {
    desk(&["call", "book_table"]).fails(1, &["no user can be asked here"]);
}
