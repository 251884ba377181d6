//! Completeness of `docs/arguments.md`: the page lists every repair of arguments.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use serde_json::{Value, json};
use tool_core::DynamicTool;
use tool_core::prelude::*;

fn tools() -> Toolset {
    let schema = json!({
        "type": "object",
        "properties": {
            "record": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false},
            "number": {"type": "integer"},
            "flag": {"type": "boolean"},
            "text": {"type": "string"},
            "numbers": {"type": "array", "items": {"type": "integer"}},
            "texts": {"type": "array", "items": {"type": "string"}},
            "lang": {"type": "string", "enum": ["rust", "python"]},
            "mail": {"type": "string", "format": "email"},
            "set": {"type": "array", "items": {"type": "string"}, "uniqueItems": true},
        },
        "additionalProperties": false,
    });
    let give = DynamicTool::new(
        "give",
        "Returns its arguments.",
        schema,
        |value: Value, _| async move { Ok::<_, ToolError>(value) },
    )
    .where_accepted();
    Registry::builder().dynamic(give).build().unwrap().open()
}

// The page lists every repair, and `Repair::Off` disables every repair.
#[tokio::test]
async fn every_repair_is_on_the_page_and_can_be_switched_off() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/arguments.md");
    let page = std::fs::read_to_string(page).unwrap();
    let safe = tools();
    let off = tools().repair(Repair::Off);
    let cx = ToolContext::anonymous();
    let mut seen = std::collections::BTreeSet::new();
    for (written, read) in [
        (r#"{"record":"{\"a\":1}"}"#, json!({"record": {"a": 1}})),
        (r#"{"number":"5"}"#, json!({"number": 5})),
        (r#"{"flag":"True"}"#, json!({"flag": true})),
        (r#"{"text":7}"#, json!({"text": "7"})),
        (r#"{"numbers":7}"#, json!({"numbers": [7]})),
        (r#"{"texts":7}"#, json!({"texts": ["7"]})),
        (r#"{"texts":[7]}"#, json!({"texts": ["7"]})),
        (r#"{"number":[7]}"#, json!({"number": 7})),
        (r#"{"lang":"RUST "}"#, json!({"lang": "rust"})),
        (r#"{"mail":" a@b.cc "}"#, json!({"mail": "a@b.cc"})),
        (r#"{"set":["a","a"]}"#, json!({"set": ["a"]})),
        ("```json\n{\"number\":1,}\n```", json!({"number": 1})),
        ("\u{feff}{\"number\":1}", json!({"number": 1})),
        ("null", json!({})),
    ] {
        let call = || ToolCall::new("c", "give", written);
        let result = safe.call(call(), &cx).await;
        let output = result
            .output()
            .unwrap_or_else(|| panic!("{written}: {:?}", result.error()));
        assert_eq!(
            serde_json::from_str::<Value>(output.get()).unwrap(),
            read,
            "{written}"
        );
        assert!(!result.repairs().is_empty(), "{written}");
        for note in result.repairs() {
            assert!(
                page.contains(
                    note.what
                        .trim_start_matches("removed the ")
                        .trim_start_matches("removed ")
                ),
                "{}",
                note.what
            );
            seen.insert(note.what);
        }
        let refused = off.call(call(), &cx).await;
        assert_eq!(
            refused.error().unwrap().kind(),
            tool_core::ErrorKind::InvalidArguments,
            "{written}"
        );
    }
    // The cases above contain every string literal of the source that describes a repair, so they cover every repair.
    let source =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/tool-schema/src/args");
    for file in ["repair.rs", "cleanup.rs"] {
        let source = std::fs::read_to_string(source.join(file)).unwrap();
        for words in source.split('"').skip(1).step_by(2) {
            let is_note = ["took ", "read ", "wrote ", "wrapped ", "removed "]
                .iter()
                .any(|word| words.starts_with(word));
            assert!(!is_note || seen.contains(words), "`{words}` has no example");
        }
    }
    for refused in [
        r#"{"texts":"a,b"}"#,
        r#"{"number":[1,2]}"#,
        r#"{"text":7.0}"#,
        r#"{"number":1"#,
        r#"{"more":1}"#,
    ] {
        let result = safe.call(ToolCall::new("c", "give", refused), &cx).await;
        assert!(result.error().is_some(), "{refused}");
    }
}
