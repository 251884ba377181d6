//! Secrets in results, audit rows and events.

use std::fmt::Write as _;

use futures::StreamExt;
use futures::future::BoxFuture;
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, EffectLedger, MemoryStore, Scope};
use tool_core::turn::{Model, ModelMessage, ModelRequest, Turns};
use tool_core::{Audit, ExposeSecret, Gate};

const SENTINEL: &str = "s3nt!nel \"quoted\" /key+ü";

/// Leaks its secret in the selected way.
#[tool]
async fn leak(
    cx: &ToolContext,
    #[secret("api_key")] key: SecretString,
    /// The output that leaks: `output`, `error`, `foreign`, `hidden`, `panic` or `note`.
    way: String,
    /// A text from the model.
    said: String,
) -> Result<String, ToolError> {
    let key = key.expose_secret();
    cx.audit("said", &serde_json::json!({ "key": key, "said": said }));
    cx.progress(&serde_json::json!({ "step": key }));
    match way.as_str() {
        "output" => Ok(format!("the key is {key}")),
        "error" => Err(ToolError::new(format!("no access with {key}"))),
        "foreign" => Err(ToolError::shown(std::io::Error::other(format!(
            "GET /?key={key}"
        )))),
        "hidden" => Err(std::io::Error::other(format!("GET /?key={key}")).into()),
        "panic" => panic!("the key was {key}"),
        _ => Ok("nothing".to_owned()),
    }
}

fn spellings() -> Vec<String> {
    let json = serde_json::to_string(SENTINEL).unwrap();
    vec![
        SENTINEL.to_owned(),
        json[1..json.len() - 1].to_owned(),
        "s3nt!nel".to_owned(),
    ]
}

#[track_caller]
fn clean(text: &str, what: &str) {
    for spelling in spellings() {
        assert!(!text.contains(&spelling), "{what}: {text}");
    }
}

// M8, S1-22, S1-24: no result, audit row or event contains a secret.
#[tokio::test]
async fn no_result_row_or_event_contains_a_secret() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .ledger(store.clone())
        .build();
    let tools = toolset![leak].through(&gate);
    let cx = ToolContext::builder()
        .secret("api_key", SecretString::from(SENTINEL))
        .build();
    for way in ["output", "error", "foreign", "hidden", "panic", "note"] {
        let arguments = serde_json::json!({ "way": way, "said": SENTINEL }).to_string();
        let mut events = Box::pin(tools.stream(ToolCall::new(way, "leak", arguments), &cx));
        let mut steps = 0;
        while let Some(event) = events.next().await {
            match event {
                ToolEvent::Started => {}
                ToolEvent::Progress(step) => {
                    clean(step.get(), "progress");
                    steps += 1;
                }
                ToolEvent::Done(result) => {
                    clean(&result.model_text(), way);
                    clean(result.output().map_or("", |output| output.get()), way);
                    clean(
                        &result
                            .error()
                            .map_or(String::new(), ToolError::operator_text),
                        way,
                    );
                    clean(&result.envelope(), way);
                    if way == "output" {
                        assert_eq!(result.model_text(), "the key is [secret:api_key]");
                    }
                }
            }
        }
        assert_eq!(steps, 1);
    }
    let rows = store
        .export(Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    assert_eq!(rows.len(), 6);
    clean(&serde_json::to_string(&rows).unwrap(), "audit");
    clean(&format!("{rows:?}"), "audit");
    let effects = EffectLedger::list(&store, Scope::All, None).await.unwrap();
    assert_eq!(effects.len(), 6);
    clean(&serde_json::to_string(&effects).unwrap(), "ledger");
}

#[tokio::test]
async fn secret_too_short_to_redact_is_refused() {
    let cx = ToolContext::builder()
        .secret("api_key", SecretString::from("short"))
        .build();
    let call = ToolCall::new("c-1", "leak", r#"{"way":"output","said":""}"#);
    let result = toolset![leak].call(call, &cx).await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), tool_core::ErrorKind::Unavailable);
    assert!(
        error.operator_text().contains("has fewer than 6 bytes"),
        "{}",
        error.operator_text()
    );
}

/// Returns the secret in a different spelling.
#[tool]
async fn spell(
    cx: &ToolContext,
    #[secret("api_key")] key: SecretString,
    /// The spelling of the secret.
    spelling: String,
) -> Result<String, ToolError> {
    let text = spelled(key.expose_secret(), &spelling);
    cx.progress(&serde_json::json!({ "at": text }));
    cx.audit("spelt", &serde_json::json!({ "as": text }));
    if spelling.ends_with("error") {
        Err(ToolError::new(text))
    } else {
        Ok(format!("before {text} after"))
    }
}

fn spelled(key: &str, spelling: &str) -> String {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    let each = |before: &str, upper: bool| {
        key.bytes().fold(String::new(), |mut text, byte| {
            let _ = if upper {
                write!(text, "{before}{byte:02X}")
            } else {
                write!(text, "{before}{byte:02x}")
            };
            text
        })
    };
    match spelling.trim_end_matches("-error") {
        "percent" => each("%", true),
        "hex" => each("", false),
        "HEX" => each("", true),
        "base64" => STANDARD.encode(key),
        "base64-1" => STANDARD.encode(format!("x{key}")),
        "base64-2" => STANDARD.encode(format!("xy{key}yx")),
        "base64url" => URL_SAFE_NO_PAD.encode(key),
        "base64url-1" => URL_SAFE_NO_PAD.encode(format!("a{key}a")),
        _ => format!("{key:?}"),
    }
}

// M8: no output of a call contains a spelling of a secret.
#[tokio::test]
async fn no_spelling_of_a_secret_leaves_a_call() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .audit(Audit::required(store.clone()))
        .build();
    let tools = toolset![spell].through(&gate);
    let cx = ToolContext::builder()
        .secret("api_key", SecretString::from(SENTINEL))
        .build();
    let spellings = [
        "percent",
        "hex",
        "HEX",
        "base64",
        "base64-1",
        "base64-2",
        "base64url",
        "base64url-1",
        "debug",
    ];
    for spelling in spellings
        .into_iter()
        .flat_map(|spelling| [spelling.to_owned(), format!("{spelling}-error")])
    {
        let whole = spelled(SENTINEL, &spelling);
        // `core` is the part of the spelling that does not depend on the bytes next to the secret.
        let core: String = whole
            .chars()
            .skip(4)
            .take(whole.chars().count() - 8)
            .collect();
        let call = ToolCall::new(
            spelling.clone(),
            "spell",
            serde_json::json!({ "spelling": spelling }).to_string(),
        );
        let mut events = Box::pin(tools.stream(call, &cx));
        while let Some(event) = events.next().await {
            let text = match event {
                ToolEvent::Started => continue,
                ToolEvent::Progress(step) => step.get().to_owned(),
                ToolEvent::Done(result) => format!("{} {}", result.model_text(), result.envelope()),
            };
            assert!(!text.contains(&core), "{spelling}: {text}");
            assert!(text.contains("[secret:api_key]"), "{spelling}: {text}");
        }
        let rows = store
            .export(Scope::All, &AuditFilter::default())
            .await
            .unwrap();
        assert!(
            !serde_json::to_string(&rows).unwrap().contains(&core),
            "{spelling}"
        );
    }
}

/// A model client whose error quotes the request.
struct Unreachable;

impl Model for Unreachable {
    fn next<'a>(
        &'a mut self,
        _: ModelRequest<'a>,
    ) -> BoxFuture<'a, Result<ModelMessage, ToolError>> {
        let error = std::io::Error::other(format!("POST /v1?key={SENTINEL}: timed out"));
        Box::pin(std::future::ready(Err(ToolError::shown(error))))
    }
}

// The error of a model client is redacted like the error of a tool
#[tokio::test]
async fn a_secret_is_not_in_the_error_of_a_model() {
    let turns = Turns::new(MemoryStore::default());
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .secret("api_key", SecretString::from(SENTINEL))
        .build();
    turns.say("Hello.", &cx).await.unwrap();
    let failed = turns.drive(&mut Unreachable, |_| toolset![leak], &cx).await;
    let error = failed.unwrap_err();
    assert!(error.to_string().contains("timed out"), "{error}");
    clean(&error.to_string(), "the text");
    clean(&format!("{error:?}"), "the debug text");
    let sources = std::iter::successors(std::error::Error::source(&error), |error| error.source());
    for source in sources {
        clean(&source.to_string(), "a source");
    }
}
