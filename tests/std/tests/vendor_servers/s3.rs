//! Tests of the pack `attachments` with the S3 server moto.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use serde_json::{Value, json};
use test_support::{Missing, Ran, python};
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_core::store::ThreadId;
use tool_std::attachments::object_store::RetryConfig;
use tool_std::attachments::object_store::aws::AmazonS3Builder;
use tool_std::attachments::{Uploads, upload_attachment};

use crate::support::output;

/// A running server, which is stopped at the end of its test.
struct S3 {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl S3 {
    fn start() -> Result<Self, Missing> {
        let mut child = Command::new(python("venv")?)
            .arg(concat!(
                env!("CARGO_MANIFEST_DIR"),
                "/tests/vendor_servers/s3.py"
            ))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let port = lines.next().unwrap().unwrap().parse().unwrap();
        let input = child.stdin.take().unwrap();
        Ok(Self {
            child,
            input,
            lines,
            port,
        })
    }

    fn uploads(&self, bucket: &str) -> Uploads {
        let retry = RetryConfig {
            max_retries: 0,
            ..RetryConfig::default()
        };
        let store = AmazonS3Builder::new()
            .with_endpoint(format!("http://127.0.0.1:{}", self.port))
            .with_allow_http(true)
            .with_region("us-east-1")
            .with_bucket_name(bucket)
            .with_access_key_id("key")
            .with_secret_access_key("secret")
            .with_retry(retry)
            .build();
        Uploads::new(Arc::new(store.unwrap()))
    }

    /// Returns the type and the disposition of an object, as the client of the vendor sees them.
    fn facts(&mut self, key: &str) -> String {
        writeln!(self.input, "{key}").unwrap();
        self.lines.next().unwrap().unwrap()
    }
}

async fn call(uploads: &Uploads, data: &str) -> CallResult {
    let cx = ToolContext::builder()
        .workspace("acme")
        .conversation("main")
        .with(uploads.clone())
        .build();
    let arguments = json!({"data": data, "file": "Q3 report.csv", "mime": "text/csv"});
    let call = ToolCall::new("c", "upload_attachment", arguments.to_string());
    toolset![upload_attachment].call(call, &cx).await
}

// uploadAttachment: files in S3 have their type, are not replaced, and are read in their conversation only.
pub(crate) async fn files_are_stored_in_s3_case() -> Ran {
    let mut server = S3::start()?;
    let uploads = server.uploads("uploads");
    let mut keys = Vec::new();
    for data in ["YSxi", "Yyxk"] {
        let stored: Value = output(&call(&uploads, data).await);
        assert_eq!(
            (&stored["size"], &stored["mime"]),
            (&json!(3), &json!("text/csv"))
        );
        keys.push(stored["key"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        keys,
        [
            "w-acme/c-main/attachments/Q3-report.csv",
            "w-acme/c-main/attachments/Q3-report-2.csv"
        ]
    );
    assert_eq!(server.facts(&keys[0]), "text/csv attachment");
    let thread = ThreadId::new("acme", "main").unwrap();
    for (key, bytes) in keys.iter().zip([b"a,b", b"c,d"]) {
        assert_eq!(uploads.read(&thread, key).await.unwrap(), bytes);
    }
    let other = ThreadId::new("acme", "other").unwrap();
    assert!(uploads.read(&other, &keys[0]).await.is_err());
    Ok(())
}

// uploadAttachment: a bucket that does not exist is an error of the host, and the model does not read its details.
pub(crate) async fn missing_bucket_is_unavailable_case() -> Ran {
    let server = S3::start()?;
    let result = call(&server.uploads("missing"), "YSxi").await;
    let error = result.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(
        !error.model_text().contains("missing"),
        "{}",
        error.model_text()
    );
    assert!(
        error.operator_text().contains("NoSuchBucket"),
        "{}",
        error.operator_text()
    );
    Ok(())
}
