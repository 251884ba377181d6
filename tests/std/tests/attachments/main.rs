//! Tests of `upload_attachment`, which stores files of a conversation in a folder.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use object_store::memory::InMemory;
use object_store::throttle::{ThrottleConfig, ThrottledStore};
use serde_json::{Value, json};
use tempfile::TempDir;
use tool_core::prelude::*;
use tool_core::store::ThreadId;
use tool_core::{Attachment, AttachmentBody, AttachmentKind, ErrorKind};
use tool_std::attachments::{MOST_BYTES, Uploads, upload_attachment};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

fn uploads() -> (TempDir, Uploads) {
    let folder = tempfile::tempdir().unwrap();
    let uploads = Uploads::folder(folder.path().join("files")).unwrap();
    (folder, uploads)
}

fn thread(conversation: &str) -> ThreadId {
    ThreadId::new("acme", conversation).unwrap()
}

fn attachment(name: Option<&str>, mime: &str, body: AttachmentBody) -> Attachment {
    Attachment {
        kind: AttachmentKind::File,
        mime: mime.to_owned(),
        filename: name.map(str::to_owned),
        body,
    }
}

/// Calls the tool in a conversation of `acme`, with these files in the message.
async fn call(
    uploads: &Uploads,
    conversation: &str,
    files: Vec<Attachment>,
    arguments: Value,
) -> Result<Value, String> {
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation(conversation)
        .attachments(files)
        .with(uploads.clone())
        .build();
    let call = ToolCall::new("c", "upload_attachment", arguments.to_string());
    let result = toolset![upload_attachment].call(call, &cx).await;
    match result.output() {
        Some(output) if !result.is_error() => Ok(serde_json::from_str(output.get()).unwrap()),
        _ => Err(result.model_text()),
    }
}

async fn data(uploads: &Uploads, bytes: &[u8], file: &str) -> Value {
    let arguments = json!({"data": STANDARD.encode(bytes), "file": file});
    call(uploads, "main", Vec::new(), arguments).await.unwrap()
}

// uploadAttachment: an index selects a file of the message. The result contains the key, the URL and the size, and the key contains the workspace,
// the conversation and a safe name.
#[tokio::test]
async fn file_of_the_message_is_stored() {
    let (_folder, uploads) = uploads();
    let uploads = uploads.url("https://files.example.com/");
    let data = AttachmentBody::Data(Arc::from(PNG));
    let link = AttachmentBody::Url("https://example.com/b.png".to_owned());
    let files = vec![
        attachment(Some("My cat.PNG"), "image/jpeg", data),
        attachment(None, "image/png", link),
    ];
    let stored = call(
        &uploads,
        "main",
        files.clone(),
        json!({"attachment_index": 0}),
    )
    .await
    .unwrap();
    let key = "w-acme/c-main/attachments/My-cat.png";
    let url = format!("https://files.example.com/{key}");
    assert_eq!(
        stored,
        json!({"key": key, "url": url, "size": PNG.len(), "mime": "image/png", "file": "My-cat.png"})
    );
    assert_eq!(uploads.read(&thread("main"), key).await.unwrap(), PNG);
    let renamed = call(
        &uploads,
        "main",
        files.clone(),
        json!({"attachment_index": 0, "file": "cat.png"}),
    )
    .await
    .unwrap();
    assert_eq!(renamed["file"], "cat.png");
    let error = call(
        &uploads,
        "main",
        files.clone(),
        json!({"attachment_index": 1}),
    )
    .await
    .unwrap_err();
    assert!(error.contains("is a link"), "{error}");
    let error = call(&uploads, "main", files, json!({"attachment_index": 2}))
        .await
        .unwrap_err();
    assert!(error.contains("there is no attachment 2"), "{error}");
}

// uploadAttachment: with both inputs, a file of 10 MiB is accepted and a larger file is refused.
#[tokio::test]
async fn files_have_a_maximum_size() {
    let (_folder, uploads) = uploads();
    for extra in [0, 1, 2, 3] {
        let bytes = vec![b'a'; MOST_BYTES + extra];
        let arguments = json!({"data": STANDARD.encode(&bytes), "file": "a.txt"});
        let of_data = call(&uploads, "main", Vec::new(), arguments).await;
        let file = attachment(
            Some("b.txt"),
            "text/plain",
            AttachmentBody::Data(bytes.into()),
        );
        let of_message = call(&uploads, "main", vec![file], json!({"attachment_index": 0})).await;
        for stored in [of_data, of_message] {
            match stored {
                Ok(stored) => assert_eq!(
                    (extra, stored["size"].as_u64()),
                    (0, Some(MOST_BYTES as u64))
                ),
                Err(error) => assert!(
                    extra > 0 && error.contains("at most 10485760 bytes"),
                    "{extra} {error}"
                ),
            }
        }
    }
    assert_eq!(data(&uploads, b"", "empty").await["size"], 0);
}

// uploadAttachment: the type is found in the bytes, and a stated type counts only for texts.
#[tokio::test]
async fn content_type_is_found_in_the_bytes() {
    let (_folder, uploads) = uploads();
    for (bytes, stated, expected) in [
        (PNG, "text/csv", "image/png"),
        (b"%PDF-1.4\n".as_slice(), "image/png", "application/pdf"),
        (b"a,b\n1,2\n".as_slice(), "text/csv", "text/csv"),
        (b"{}".as_slice(), "application/json", "application/json"),
        (b"plain".as_slice(), "image/png", "text/plain"),
        (b"alert(1)".as_slice(), "text/html", "text/plain"),
        (
            b"<!DOCTYPE html><script>".as_slice(),
            "text/plain",
            "text/html",
        ),
        (b"a\0b".as_slice(), "text/plain", "application/octet-stream"),
        (
            b"\xff\xfe\xfd".as_slice(),
            "text/plain",
            "application/octet-stream",
        ),
    ] {
        let arguments = json!({"data": STANDARD.encode(bytes), "mime": stated, "file": "f"});
        let stored = call(&uploads, "main", Vec::new(), arguments).await.unwrap();
        assert_eq!(stored["mime"], expected, "{bytes:?} as {stated}");
    }
}

// uploadAttachment: a call must have exactly one of the two inputs, and its base64 must be valid.
#[tokio::test]
async fn invalid_inputs_are_refused() {
    let (_folder, uploads) = uploads();
    for arguments in [json!({}), json!({"attachment_index": 0, "data": "aGk="})] {
        let error = call(&uploads, "main", Vec::new(), arguments)
            .await
            .unwrap_err();
        assert!(error.contains("set either `attachment_index`"), "{error}");
    }
    for text in ["a", "aGk", "aGk=\n", "ü===", "aG k"] {
        let error = call(&uploads, "main", Vec::new(), json!({"data": text}))
            .await
            .unwrap_err();
        assert!(error.contains("`data` is not base64"), "{text}: {error}");
    }
}

// A name cannot lead out of the conversation's folder, and no file is replaced, even by concurrent calls.
#[tokio::test]
async fn names_are_safe_and_unique() {
    let (folder, uploads) = uploads();
    for name in [
        "../../../etc/passwd",
        "..",
        "/etc/passwd",
        r"..\..\passwd",
        "a/../b",
    ] {
        let stored = data(&uploads, b"x", name).await;
        let key = stored["key"].as_str().unwrap();
        assert!(
            key.starts_with("w-acme/c-main/attachments/") && !key.contains(".."),
            "{key}"
        );
    }
    let calls = (0..20).map(|number| {
        let uploads = uploads.clone();
        async move { data(&uploads, format!("{number}").as_bytes(), "same.txt").await }
    });
    let stored = futures::future::join_all(calls).await;
    for (number, stored) in stored.iter().enumerate() {
        let key = stored["key"].as_str().unwrap();
        let bytes = uploads.read(&thread("main"), key).await.unwrap();
        assert_eq!(bytes, number.to_string().as_bytes());
    }
    assert!(
        folder
            .path()
            .join("files/w-acme/c-main/attachments/same-20.txt")
            .exists()
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

// The body of a file is sent once, however many files have its name: sending it takes an hour here.
#[tokio::test(start_paused = true)]
async fn body_is_sent_once() {
    let slow = ThrottleConfig {
        wait_put_per_call: Duration::from_hours(1),
        ..ThrottleConfig::default()
    };
    let uploads = Uploads::new(Arc::new(ThrottledStore::new(InMemory::new(), slow)));
    for number in 1..=5 {
        let start = tokio::time::Instant::now();
        let stored = data(&uploads, b"x", "same.txt").await;
        let hours = start.elapsed().as_secs() / 3_600;
        assert_eq!(hours, 1, "file {number}: {stored}");
    }
}

// Keys are valid for their conversation only, whatever the names of workspaces and conversations are.
#[tokio::test]
async fn keys_of_other_conversations_are_refused() {
    let (_folder, uploads) = uploads();
    let stored = data(&uploads, b"secret", "a.txt").await;
    let key = stored["key"].as_str().unwrap();
    assert_eq!(uploads.read(&thread("main"), key).await.unwrap(), b"secret");
    let others = [
        thread("other"),
        thread("main/attachments"),
        thread("../c-main"),
        ThreadId::new("umbrella", "main").unwrap(),
        ThreadId::new("acme/c-main", "attachments").unwrap(),
    ];
    for other in &others {
        let error = uploads.read(other, key).await.unwrap_err();
        assert!(
            error.model_text().contains("the conversation has no file"),
            "{other}"
        );
    }
    for wrong in [
        "",
        "a.txt",
        "w-acme/c-main/attachments",
        "w-acme/c-main/attachments/",
        "w-acme/c-main/attachments/b.txt",
        "w-acme/c-main/attachments/../attachments/a.txt",
        "w-acme/c-main/attachments/x/a.txt",
        "/w-acme/c-main/attachments/a.txt/",
    ] {
        let read = uploads.read(&thread("main"), wrong).await;
        assert!(read.is_err() || wrong.starts_with('/'), "{wrong}");
    }
    // A conversation whose name contains a slash has its own folder, whose name is escaped.
    let nested = call(
        &uploads,
        "main/attachments",
        Vec::new(),
        json!({"data": "aGk=", "file": "a.txt"}),
    )
    .await
    .unwrap();
    assert_eq!(
        nested["key"],
        "w-acme/c-main%2Fattachments/attachments/a.txt"
    );
}

#[tokio::test]
async fn tool_is_unavailable_without_a_store_or_a_conversation() {
    let (_folder, uploads) = uploads();
    let contexts = [
        ToolContext::builder().conversation("main").build(),
        ToolContext::builder().with(uploads).build(),
    ];
    for cx in contexts {
        let call = ToolCall::new("c", "upload_attachment", r#"{"data": "aGk="}"#);
        let result = toolset![upload_attachment].call(call, &cx).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    }
}
