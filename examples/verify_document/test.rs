//! Tests of the example `verify_document`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod provider;
mod tool;

use std::sync::Arc;

use serde_json::{Value, json};
use tool_core::prelude::*;
use tool_core::testing::{assert_kept, violations};
use tool_core::{Attachment, AttachmentBody, AttachmentKind, ErrorKind};

use provider::Provider;
use tool::{Judges, verify_document};

fn good() -> Value {
    json!({"is_bill": true, "readability_score": 93, "bill_type": "water", "confidence": 0.97, "reason": "It is a bill."})
}

fn file(mime: &str, body: AttachmentBody) -> Attachment {
    Attachment {
        kind: AttachmentKind::File,
        mime: mime.to_owned(),
        filename: Some("bill".to_owned()),
        body,
    }
}

fn scan(mime: &str) -> Attachment {
    file(
        mime,
        AttachmentBody::Data(Arc::from(&b"bytes of a scan"[..])),
    )
}

fn instance(server: &Provider, provider: &str, key: &str, files: Vec<Attachment>) -> ToolContext {
    let models = ["openai", "anthropic"].map(|name| (name.to_owned(), format!("{name}-model")));
    ToolContext::builder()
        .model_provider(provider)
        .api_key(provider, SecretString::from(key.to_owned()))
        .attachments(files)
        .with(Judges {
            models: models.into(),
            gateway: Some(server.url.clone()),
        })
        .build()
}

async fn verify(cx: &ToolContext, arguments: Value) -> CallResult {
    let call = ToolCall::new("c-1", "verify_document", arguments.to_string());
    toolset![verify_document].call(call, cx).await
}

fn output(result: &CallResult) -> Value {
    let output = result
        .output()
        .unwrap_or_else(|| panic!("{}", result.model_text()));
    serde_json::from_str(output.get()).unwrap()
}

// The definition is strict, and the tool is read-only.
#[test]
fn definition_passes_the_test_kit() {
    assert_kept(&[verify_document::DEF], &violations);
    assert!(verify_document::DEF.hints().read_only);
}

// S1-18, S1-19: the tool calls a model of the instance's provider with the instance's key. The test program has no keys in its environment.
#[tokio::test]
async fn each_instance_uses_its_own_provider_and_key() {
    assert!(std::env::vars().all(|(name, _)| !name.ends_with("_API_KEY")));
    let server = Provider::start(vec![good()]).await.unwrap();
    for (provider, key, path) in [
        ("openai", "key-of-acme", "/chat/completions"),
        ("openai", "key-of-globex", "/chat/completions"),
        ("anthropic", "key-of-initech", "/messages"),
    ] {
        let cx = instance(&server, provider, key, vec![scan("image/png")]);
        assert_eq!(output(&verify(&cx, json!({})).await), good());
        let seen = server.requests();
        assert_eq!(seen.len(), 1);
        assert!(seen[0].path.ends_with(path), "{}", seen[0].path);
        assert_eq!(seen[0].key, key);
        assert_eq!(seen[0].body["model"], format!("{provider}-model"));
    }
    // If the key, the name or a model of the provider is missing, no model is called.
    let files = || vec![scan("image/png")];
    let judges = || instance(&server, "openai", "key-of-acme", files());
    let no_key = ToolContext::builder()
        .model_provider("openai")
        .attachments(files())
        .with(Judges::default())
        .build();
    for cx in [no_key, instance(&server, "acme-ai", "key-of-acme", files())] {
        let result = verify(&cx, json!({})).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    }
    assert!(server.requests().is_empty());
    assert!(!verify(&judges(), json!({})).await.is_error());
}

// The contract of verifyDocument: images and PDF are sent to the model, other files are refused.
#[tokio::test]
async fn images_and_pdf_are_sent_to_the_model() {
    let server = Provider::start(vec![good()]).await.unwrap();
    let files = || {
        vec![
            scan("image/png"),
            scan("application/pdf"),
            scan("audio/wav"),
            file(
                "image/png",
                AttachmentBody::Data(vec![0; (10 << 20) + 1].into()),
            ),
        ]
    };
    let coded = "Ynl0ZXMgb2YgYSBzY2Fu";
    for provider in ["openai", "anthropic"] {
        let cx = instance(&server, provider, "key-of-acme", files());
        for index in [0, 1] {
            assert_eq!(
                output(&verify(&cx, json!({"attachment_index": index})).await),
                good()
            );
            let body = server.requests().pop().unwrap().body.to_string();
            let mime = ["image/png", "application/pdf"][index];
            assert!(body.contains(coded) && body.contains(mime), "{body}");
        }
        for (index, says) in [
            (2, "only images"),
            (3, "larger than 10 MiB"),
            (4, "attachments 0 to 3"),
        ] {
            let result = verify(&cx, json!({"attachment_index": index})).await;
            assert!(
                result.model_text().contains(says),
                "{}",
                result.model_text()
            );
        }
        assert!(server.requests().is_empty());
    }
}

// The contract of verifyDocument: the model's JSON is validated again. An invalid judgment is requested again, and never returned.
#[tokio::test]
async fn invalid_judgment_is_not_returned() {
    let with = |key: &str, value: Value| {
        let mut judgment = good();
        judgment[key] = value;
        judgment
    };
    for invalid in [
        with("readability_score", json!(250)),
        with("readability_score", json!(-1)),
        with("confidence", json!(1.5)),
        with("bill_type", json!("rent")),
        with("is_bill", json!("yes")),
        json!({"is_bill": true}),
        json!("It is a bill."),
    ] {
        let server = Provider::start(vec![invalid.clone(), good()])
            .await
            .unwrap();
        let cx = instance(&server, "openai", "key-of-acme", vec![scan("image/png")]);
        assert_eq!(output(&verify(&cx, json!({})).await), good(), "{invalid}");
        assert_eq!(server.requests().len(), 2, "{invalid}");
        let server = Provider::start(vec![invalid.clone()]).await.unwrap();
        let cx = instance(&server, "openai", "key-of-acme", vec![scan("image/png")]);
        let result = verify(&cx, json!({})).await;
        assert!(
            result.model_text().contains("no valid judgment"),
            "{invalid}: {}",
            result.model_text()
        );
    }
    // Contradictions that a schema cannot express are refused too.
    for contradiction in [
        with("bill_type", json!(null)),
        with("is_bill", json!(false)),
    ] {
        let server = Provider::start(vec![contradiction]).await.unwrap();
        let cx = instance(&server, "openai", "key-of-acme", vec![scan("image/png")]);
        let result = verify(&cx, json!({})).await;
        assert!(
            result.model_text().contains("contradicts itself"),
            "{}",
            result.model_text()
        );
    }
}
