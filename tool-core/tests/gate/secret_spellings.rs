//! Property test: no output of a call contains a secret in a spelling that the threat model lists as redacted.

#![allow(
    clippy::format_collect,
    reason = "an encoder of a test should be readable, not fast"
)]

use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use futures::StreamExt;
use proptest::prelude::*;
use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::store::{
    AuditFilter, AuditSink, CallId, EffectLedger, MemoryStore, Scope, ThreadStore,
};
use tool_core::turn::{ModelMessage, Turns};
use tool_core::{Audit, Citation, Effect, Gate};

/// The text and the bytes that a tool puts into each of its outputs.
#[derive(Clone)]
struct Emission(Arc<(String, Vec<u8>)>);
tool_core::host_value!(Emission, Effect::READ);

fn say(emission: &Emission, cx: &ToolContext) -> Value {
    let (text, bytes) = &*emission.0;
    cx.progress(text);
    cx.progress(&json!({ "at": [text, { text: bytes }] }));
    cx.audit(text, &json!({ "deep": { text: [text, bytes] } }));
    cx.cite(Citation::new(text.clone(), format!("id {text}")).version(text.clone()));
    let inside = json!({ text: text, "bytes": bytes }).to_string();
    json!({
        "text": text,
        "inside": inside,
        "deep": [{ "deeper": { text: [1, text, null] } }],
        "bytes": bytes,
    })
}

/// Returns the secret in an output.
#[tool]
async fn emit(emission: &Emission, cx: &ToolContext) -> Value {
    say(emission, cx)
}

/// Returns the secret in an error.
#[tool]
async fn emit_error(emission: &Emission, cx: &ToolContext) -> Result<Value, ToolError> {
    say(emission, cx);
    let text = &emission.0.0;
    Err(ToolError::new(text.clone()).operator(format!("because of {text}")))
}

/// Returns the secret in an error of a library.
#[tool]
async fn emit_foreign(emission: &Emission) -> Result<Value, ToolError> {
    Err(ToolError::shown(std::io::Error::other(
        emission.0.0.clone(),
    )))
}

/// Panics with the secret.
#[tool]
async fn emit_panic(emission: &Emission) -> Result<Value, ToolError> {
    std::panic::resume_unwind(Box::new(emission.0.0.clone()))
}

const TOOLS: [&str; 4] = ["emit", "emit_error", "emit_foreign", "emit_panic"];

/// Makes the four calls and returns all their outputs as texts; also returns each key and string of JSON outputs.
async fn everything(secret: Option<&str>, text: &str, bytes: &[u8]) -> Vec<String> {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let tools = toolset![emit, emit_error, emit_foreign, emit_panic].through(&gate);
    let cx = ToolContext::builder()
        .conversation("th-1")
        .with(Emission(Arc::new((text.to_owned(), bytes.to_vec()))));
    let cx = match secret {
        Some(secret) => cx.secret("it", SecretString::from(secret)).build(),
        None => cx.build(),
    };
    let mut all = Vec::new();
    let turns = Turns::new(store.clone());
    let message = ModelMessage::calls(TOOLS.map(|tool| ToolCall::new(tool, tool, "{}")));
    let message = turns.record(message, &cx).await.unwrap();
    for (position, tool) in (0..).zip(TOOLS) {
        let cx = cx.for_call(CallId::in_thread(message.thread(), message.seq(), position));
        let mut events = Box::pin(tools.stream(ToolCall::new(tool, tool, "{}"), &cx));
        while let Some(event) = events.next().await {
            match event {
                ToolEvent::Started => {}
                ToolEvent::Progress(step) => all.push(step.get().to_owned()),
                ToolEvent::Done(result) => {
                    all.extend([result.model_text(), result.envelope()]);
                    all.push(serde_json::to_string(result.citations()).unwrap());
                    if let Some(error) = result.error() {
                        all.extend([error.operator_text(), error.to_string()]);
                        let source = error.source().map(ToString::to_string);
                        all.extend(source);
                    }
                }
            }
        }
    }
    // The ledger returns the stored results of these calls.
    turns.run(&tools, &message, &cx).await.unwrap();
    for row in AuditSink::export(&store, Scope::All, &AuditFilter::default())
        .await
        .unwrap()
    {
        all.push(serde_json::to_string(&row).unwrap());
    }
    for row in EffectLedger::list(&store, Scope::All, None).await.unwrap() {
        all.extend(row.result);
    }
    for message in ThreadStore::read(&store, message.thread(), None)
        .await
        .unwrap()
    {
        all.push(message.content.clone());
    }
    let mut leaves = Vec::new();
    for text in &all {
        if let Ok(value) = serde_json::from_str(text) {
            read(&value, &mut leaves);
        }
    }
    all.extend(leaves);
    all
}

/// Adds each key and string of a JSON value to `texts`, also from JSON inside these strings.
fn read(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            texts.push(text.clone());
            if let Ok(inner @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
                read(&inner, texts);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| read(value, texts)),
        Value::Object(entries) => {
            for (key, value) in entries {
                texts.push(key.clone());
                read(value, texts);
            }
        }
        _ => {}
    }
}

type Spell = fn(&str) -> String;

fn join(secret: &str, separator: &str, write: fn(u8) -> String) -> String {
    let bytes: Vec<String> = secret.bytes().map(write).collect();
    bytes.join(separator)
}

fn wrap(secret: &str, width: usize, line_break: &str) -> String {
    // The padding makes a line end inside the secret.
    let text = STANDARD.encode(format!("{}{secret}", "x".repeat(44)));
    let lines = text.as_bytes().chunks(width);
    let lines: Vec<&str> = lines
        .map(|line| std::str::from_utf8(line).unwrap())
        .collect();
    lines.join(line_break)
}

fn html(secret: &str) -> String {
    let amp = secret
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    amp.replace('"', "&quot;").replace('\'', "&#039;")
}

fn json_inside(secret: &str) -> String {
    let json = serde_json::to_string(secret).unwrap();
    json[1..json.len() - 1].to_owned()
}

fn percent(secret: &str) -> String {
    join(secret, "", |byte| format!("%{byte:02X}"))
}

/// The spellings in the table of the threat model.
const SPELLINGS: [Spell; 25] = [
    str::to_owned,
    |secret| secret.trim().to_owned(),
    |secret| secret.replace('\n', "\r\n"),
    json_inside,
    |secret| {
        secret
            .encode_utf16()
            .map(|unit| format!("\\u{unit:04x}"))
            .collect()
    },
    |secret| join(secret, "", |byte| format!("{byte:02x}")),
    |secret| join(secret, "", |byte| format!("{byte:02X}")),
    |secret| join(secret, ":", |byte| format!("{byte:02x}")),
    |secret| join(secret, "-", |byte| format!("{byte:02X}")),
    |secret| join(secret, " ", |byte| format!("{byte:02x}")),
    |secret| STANDARD.encode(secret),
    |secret| URL_SAFE_NO_PAD.encode(format!("ab{secret}cd")),
    |secret| wrap(secret, 64, "\n"),
    |secret| wrap(secret, 76, "\r\n"),
    html,
    |secret| html(&html(secret)),
    |secret| {
        secret
            .chars()
            .map(|c| format!("&#{};", u32::from(c)))
            .collect()
    },
    |secret| {
        secret
            .chars()
            .map(|c| format!("&#x{:X};", u32::from(c)))
            .collect()
    },
    |secret| serde_json::to_string(secret.as_bytes()).unwrap(),
    |secret| serde_json::to_string_pretty(secret.as_bytes()).unwrap(),
    |secret| format!("{:?}", secret.as_bytes()),
    |secret| secret.escape_default().to_string(),
    |secret| secret.as_bytes().escape_ascii().to_string(),
    percent,
    |secret| percent(secret).replace('%', "%25"),
];

/// Generates secrets of at least 6 characters, some with line breaks inside or white space around them.
fn secret() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{6,60}",
        "[!-~]{4,28}\n[!-~]{4,28}\n?",
        "[a-zA-Z0-9_/+-]{6,60}",
        "\\PC{6,60}",
        "[\"'&<>%\\\\+ ;:,0-9]{6,60}",
    ]
    .prop_filter("long enough", |secret| secret.trim().len() >= 6)
}

static RUNTIME: LazyLock<tokio::runtime::Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    // No output of a call contains a redacted spelling.
    #[test]
    fn no_redacted_spelling_leaves_a_call(
        secret in secret(),
        which in 0..SPELLINGS.len(),
        before in "[ -~é]{0,12}",
        after in "[ -~é]{0,12}",
    ) {
        let written = SPELLINGS[which](&secret);
        let text = format!("{before}{written}{after}");
        let all = RUNTIME.block_on(everything(Some(&secret), &text, secret.as_bytes()));
        prop_assert!(all.len() > 40, "{}", all.len());
        let list = serde_json::to_string(secret.as_bytes()).unwrap();
        let list = list.trim_matches(['[', ']']);
        for face in &all {
            prop_assert!(!face.contains(&written), "spelling {which}: {face}");
            prop_assert!(!face.contains(secret.trim()), "spelling {which}: {face}");
            prop_assert!(!face.contains(list), "spelling {which}: {face}");
        }
    }

    // Redacting a secret that does not occur changes no output.
    #[test]
    fn calls_without_the_secret_are_unchanged(
        secret in "[a-z]{3}§[a-z0-9]{3,40}",
        text in "[ -~\n\réäß]{0,60}",
        bytes in proptest::collection::vec(any::<u8>(), 0..12),
    ) {
        let with = RUNTIME.block_on(everything(Some(&secret), &text, &bytes));
        let without = RUNTIME.block_on(everything(None, &text, &bytes));
        // Rows, citations and foreign errors contain times and ids that differ between runs.
        let own = ["\"original_hash\"", "retrievedAt", "(audit id"];
        let comparable = |all: &[String]| -> Vec<String> {
            let all = all.iter().filter(|text| !own.iter().any(|own| text.contains(own)));
            all.take(12).cloned().collect()
        };
        for (with, without) in comparable(&with).iter().zip(&comparable(&without)) {
            prop_assert_eq!(with, without);
        }
        prop_assert_eq!(with.len(), without.len());
    }
}
