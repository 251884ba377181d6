//! Secrets in files, output limits, and stored results with files.

use serde_json::Value;
use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, MemoryStore, Scope};
use tool_core::{Approvals, Audit, ExposeSecret, File, Gate, Image, Part};

use super::{PNG, call, png, read};

const SECRET: &str = "sk-live-0123456789";

/// Exports the key in files.
#[tool(read_only)]
fn leak(#[secret("key")] key: SecretString) -> Result<Vec<File>, ToolError> {
    let text = format!("the key is {} and more", key.expose_secret());
    Ok(vec![
        File::text(text)?.named("leak.txt"),
        File::text("plain")?.named("plain.txt"),
    ])
}

/// A report with a key in a file and in a text.
#[derive(Serialize)]
struct Report {
    title: String,
    file: File,
}

/// Reports the key in a file.
#[tool(read_only)]
fn leak_within(#[secret("key")] key: SecretString) -> Result<Report, ToolError> {
    let key = key.expose_secret();
    // The file contains the key as HTML references, and the output contains the file as base64.
    let escaped: Vec<String> = key.bytes().map(|byte| format!("&#{byte};")).collect();
    let escaped = escaped.concat();
    Ok(Report {
        title: format!("Key {key}"),
        file: File::text(escaped)?,
    })
}

/// Names a file after the key.
#[tool(read_only)]
fn leak_name(#[secret("key")] key: SecretString) -> Image {
    png().named(format!("{}.png", key.expose_secret()))
}

// M8: neither the model nor the client gets a file that contains a secret; a secret in a file name is redacted
#[tokio::test]
async fn file_with_a_secret_is_omitted_everywhere() {
    let cx = ToolContext::builder().secret("key", SECRET).build();
    let tools = toolset![leak, leak_within, leak_name];
    let result = tools.call(ToolCall::new("c-0", "leak", "{}"), &cx).await;
    let parts = read(&result);
    assert_eq!(
        parts[0],
        Part::text("[a file is left out here, because it contains a secret]")
    );
    assert!(matches!(&parts[1], Part::File { name: Some(name), .. } if name == "plain.txt"));
    let output: Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
    assert_eq!(
        output[0]["url"],
        "[a file is left out here, because it contains a secret]"
    );
    assert_eq!(output[0]["filename"], "leak.txt");
    assert_eq!(output[1]["url"], "data:text/plain;base64,cGxhaW4=");

    let result = tools
        .call(ToolCall::new("c-0", "leak_within", "{}"), &cx)
        .await;
    let parts = read(&result);
    assert_eq!(
        parts,
        [
            Part::text(
                r#"{"title":"Key [secret:key]","file":{"type":"file","mediaType":"text/plain","url":"[file 1]"}}"#
            ),
            Part::text("[a file is left out here, because it contains a secret]"),
        ]
    );
    let output: Value = serde_json::from_str(result.output().unwrap().get()).unwrap();
    assert_eq!(
        output["file"]["url"],
        "[a file is left out here, because it contains a secret]"
    );

    let result = tools
        .call(ToolCall::new("c-0", "leak_name", "{}"), &cx)
        .await;
    assert!(
        matches!(&read(&result)[0], Part::File { name: Some(name), .. } if name == "[secret:key].png")
    );
    assert!(result.output().unwrap().get().contains(PNG));
    assert!(!result.output().unwrap().get().contains(SECRET));
}

/// Draws an image that exceeds the output limit.
#[tool(read_only, output_limit = 60)]
fn limited() -> Image {
    png()
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "`to_model_output` requires this signature"
)]
fn drawn(_: &u8) -> ModelOutput {
    png().into()
}

/// Draws an image for the model only. The image exceeds the output limit.
#[tool(read_only, output_limit = 60, to_model_output = drawn)]
fn limited_view() -> u8 {
    7
}

// The output limit counts the bytes of files in outputs and in model views
#[tokio::test]
async fn files_count_towards_the_output_limit() {
    let tools = toolset![limited, limited_view];
    for name in ["limited", "limited_view"] {
        let result = tools
            .call(ToolCall::new("c-0", name, "{}"), &ToolContext::anonymous())
            .await;
        let error = result.error().expect(name).model_text();
        assert!(
            error.contains("bytes and at most 60 are allowed"),
            "{name}: {error}"
        );
    }
}

/// Draws an image.
#[tool(read_only)]
fn draw() -> Image {
    png()
}

/// Draws images, and has an effect.
#[tool(idempotent)]
fn redraw() -> Vec<Image> {
    vec![png()]
}

// The audit contains no bytes of files, and the stored result of a call shows the image again
#[tokio::test]
async fn the_audit_has_no_bytes_and_a_stored_result_shows_the_image() {
    let store = MemoryStore::default();
    let gate = Gate::builder()
        .approvals(Approvals::builder(store.clone()).build().unwrap())
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let tools = toolset![draw, redraw].through(&gate);
    let first = call(&tools, "draw").await;
    assert_eq!(read(&first).len(), 1);
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .build();
    let identity = tool_core::store::CallId::alone(cx.own_workspace()).unwrap();
    let cx = cx.for_call(identity);
    for replayed in [false, true] {
        let result = tools.call(ToolCall::new("c-1", "redraw", "{}"), &cx).await;
        assert!(!result.is_error(), "{:?}", result.error());
        assert_eq!(result.is_replayed(), replayed);
        assert_eq!(read(&result), [Part::base64("image/png", PNG)]);
        assert!(result.output().unwrap().get().contains(PNG));
    }
    let rows = AuditSink::export(&store, Scope::All, &AuditFilter::default())
        .await
        .unwrap();
    assert_eq!(rows.len(), 2);
    let text = format!("{rows:?}");
    assert!(!text.contains(&PNG[..20]), "{text}");
    assert!(rows.iter().all(|row| row.output_bytes > Some(100)));
}
