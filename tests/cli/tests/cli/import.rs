//! Tests of the `import` command. Its output is compiled in `workspace.rs`.

use std::fs;

use serde_json::json;

use crate::support::{DESK, Ran, command, desk, run};

fn import(text: &str, words: &[&str]) -> Ran {
    run(command(DESK, &[&["import", "-"], words].concat()), text)
}

const OBJECT: &str = r#"{"type":"object","properties":{"q":{"type":"string","description":"What."}},"required":["q"]}"#;

#[test]
fn every_form_of_a_definition_is_found() {
    let forms = [
        format!(
            r#"[{{"type":"function","function":{{"name":"find","description":"Finds.","parameters":{OBJECT}}}}}]"#
        ),
        format!(
            r#"{{"tools":[{{"type":"function","name":"find","description":"Finds.","parameters":{OBJECT}}}]}}"#
        ),
        format!(r#"[{{"name":"find","description":"Finds.","input_schema":{OBJECT}}}]"#),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{{"name":"find","description":"Finds.","inputSchema":{OBJECT}}}]}}}}"#
        ),
        format!(
            r#"[{{"functionDeclarations":[{{"name":"find","description":"Finds.","parametersJsonSchema":{OBJECT}}}]}}]"#
        ),
        OBJECT.replacen('{', r#"{"title":"find","description":"Finds.","#, 1),
    ];
    let first = import(&forms[0], &[]).succeeds().out;
    assert!(
        first.contains("pub async fn find(\n    /// What.\n    q: String,\n)"),
        "{first}"
    );
    for form in &forms[1..] {
        assert_eq!(import(form, &[]).succeeds().out, first, "{form}");
    }
    // A tool whose schema has no title gets its name from `--name`.
    assert!(
        import(OBJECT, &["--name", "Look-Up"])
            .succeeds()
            .out
            .contains("fn look_up(")
    );
}

#[test]
fn untypable_definitions_are_left_out_with_their_rule() {
    let open = r#"{"type":"object","properties":{"any":{},"tags":{"type":"object","additionalProperties":{"type":"string"}}}}"#;
    let text = format!(
        r#"[{{"name":"open","parameters":{open}}},{{"name":"find","parameters":{OBJECT}}}]"#
    );
    let ran = import(&text, &[]);
    ran.fails(
        1,
        &[
            "left out: `open`",
            "[map-type] `/tags`",
            "[untyped-value]",
            "1 of 2 tools generated",
        ],
    );
    assert!(
        ran.out.contains("fn find(") && !ran.out.contains("fn open("),
        "{}",
        ran.out
    );
    let json = import(&text, &["--format", "json"]).json();
    assert_eq!(
        json["tools"][1],
        json!({"name": "find", "tool": "find", "faults": [], "lost": []})
    );
    assert_eq!(json["tools"][0]["tool"], json!(null));
}

#[test]
fn nulls_in_lists_and_wide_integers_have_no_type() {
    let text = r#"{"type":"object","properties":{"tags":{"type":"array","items":{"type":["string","null"]}},"size":{"enum":[18446744073709551615]}}}"#;
    let ran = import(text, &["--name", "fit"]);
    ran.fails(
        1,
        &[
            "[null-item] `/tags/[]`",
            "items and variants that may be null have no strict type, remove null from the schema",
            "[int-range] `/size`",
            "a whole number of the `enum` does not fit in 64 bits, write the values as text",
        ],
    );
}

// No source is generated for a definition with hidden characters, and the report escapes these characters.
#[test]
fn definitions_with_hidden_characters_are_left_out() {
    let tag = "\u{e0041}";
    for hidden in [
        json!([{"name": "find", "description": format!("Finds.{tag}"), "parameters": {"type": "object", "properties": {}}}]),
        json!([{"name": format!("find{tag}"), "description": "Finds.", "parameters": {"type": "object", "properties": {}}}]),
        json!([{"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {"q": {"type": "string", "description": tag}}}}]),
        json!([{"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {"q": {"type": "string", "enum": [tag]}}}}]),
        json!([{"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {tag: {"type": "string"}}}}]),
    ] {
        let ran = import(&hidden.to_string(), &[]);
        ran.fails(1, &["left out: `find", "an invisible character, U+E0041"]);
        assert!(
            !ran.out.contains(tag) && !ran.err.contains(tag),
            "{}{}",
            ran.out,
            ran.err
        );
    }
}

#[test]
fn constraints_without_a_type_are_reported_and_kept_in_the_body() {
    let text = r#"{"type":"object","properties":{"sizes":{"type":"array","items":{"type":"integer","minimum":3}}},"required":["sizes"]}"#;
    let ran = import(text, &["--name", "fit"]).succeeds();
    assert!(
        ran.err
            .contains("not checked: `fit` `/sizes/[]`: `range = 3..`"),
        "{}",
        ran.err
    );
    assert!(
        ran.out
            .contains("// Check this constraint here, because no type expresses it: `/sizes/[]`: `range = 3..`"),
        "{}",
        ran.out
    );
}

#[test]
fn invalid_files_are_reported_and_nothing_is_overwritten() {
    desk(&["import", "/nowhere.json"]).fails(
        2,
        &[
            "`/nowhere.json` cannot be read",
            "`-` for the standard input",
        ],
    );
    import("{nonsense", &[]).fails(2, &["this is not JSON"]);
    import("[1, 2]", &[]).fails(2, &["the text contains no tool", "tools/list"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tools.rs");
    let out = file.to_str().unwrap();
    fs::write(&file, "mine").unwrap();
    import(OBJECT, &["--out", out]).fails(2, &["already exists", "--force"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    import(OBJECT, &["--out", out, "--force", "--name", "find"]).succeeds();
    assert!(fs::read_to_string(&file).unwrap().contains("fn find("));
}

// A definition may come from an untrusted source, so its texts must never become code.
#[test]
fn texts_of_a_definition_never_become_code() {
    let text = json!([{
        "name": "trap",
        "description": "One.\u{1b}[8m\n\rfn a() {}\r\n*/ fn b() {}",
        "parameters": {"type": "object", "required": ["q"], "properties": {
            "q": {"type": "string", "description": "x\nfn c() {}", "enum": ["a\"] fn d() {}", "\u{8}\nfn e() {}"]}
        }}
    }]);
    let ran = import(&text.to_string(), &[]).succeeds();
    assert!(ran.out.contains("pub async fn trap("), "{}", ran.out);
    for line in ran.out.lines().map(str::trim) {
        assert!(!line.starts_with("fn "), "{line}");
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    assert!(
        ran.code == 1 || ran.out.contains("pub async fn trap("),
        "{ran:?}"
    );
}

#[test]
fn tools_are_imported_from_a_running_mcp_server() {
    let served = desk(&["import", "--mcp", &format!("{DESK} serve")]).succeeds();
    assert!(
        served.out.contains("pub async fn file_note("),
        "{}",
        served.out
    );
    assert!(served.out.contains("range = 1..=9"), "{}", served.out);
    assert!(!served.out.contains("fn forbidden("), "{}", served.out);
    desk(&["import", "--mcp", "/nowhere/server"])
        .fails(2, &["`/nowhere/server` does not serve tools", "help:"]);
    desk(&["import", "--mcp", "true"]).fails(2, &["`true` does not serve tools"]);
    desk(&["import"]).fails(2, &["<FILE>"]);
}
