//! Message bodies and secrets in database files.

use std::path::Path;

use tool_core::prelude::*;
use tool_core::store::{AuditFilter, AuditSink, Scope};
use tool_core::turn::{ModelMessage, Outcome, Turns};
use tool_core::{Audit, ExposeSecret, Gate, Reply};
use tool_store::SqliteStore;

use crate::support::{Script, approvals, count, files};

const KEY: &str = "sk-sentinel-4711";
const BODY: &str = "Dear Bob, the sentinel of this body is 4712.";
/// A part of the body that would remain complete if the body were truncated.
const BODY_PART: &str = "sentinel of this body";

/// Sends a letter.
#[tool]
async fn post_letter(
    cx: &ToolContext,
    #[secret("api_key")] key: SecretString,
    /// The recipient of the letter.
    to: String,
    /// The text of the letter.
    body: String,
    /// The outcome of the call: `ok`, `error`, `hidden` or `panic`.
    end: String,
) -> Result<String, ToolError> {
    let key = key.expose_secret();
    cx.audit(
        "posted",
        &serde_json::json!({"to": to, "length": body.len(), "key": key}),
    );
    match end.as_str() {
        "ok" => Ok(format!("{to} reads: {body}, paid for with {key}")),
        "error" => Err(ToolError::new(format!("refused with {key}"))),
        "hidden" => Err(std::io::Error::other(format!("refused with {key}")).into()),
        _ => panic!("refused with {key}"),
    }
}

/// Sends a letter, after approval.
#[tool(approval)]
async fn post_dear_letter(
    #[secret("api_key")] key: SecretString,
    /// The text of the letter.
    body: String,
) -> String {
    format!("{} bytes for {}", body.len(), key.expose_secret())
}

fn context() -> ToolContext {
    ToolContext::builder()
        .workspace("acme")
        .user("ann")
        .conversation("th-1")
        .secret("api_key", KEY)
        .build()
}

/// Asserts that none of these texts is in a file of the folder, and that `proof`, which was stored, is in a file.
#[track_caller]
fn are_absent(folder: &Path, texts: &[&str], proof: &str) {
    let files = files(folder);
    let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert!(
        files.iter().any(|(_, bytes)| count(bytes, proof) > 0),
        "`{proof}` is not in {names:?}, so the test proves nothing"
    );
    for (name, bytes) in &files {
        for text in texts {
            assert_eq!(count(bytes, text), 0, "`{text}` is in {name}");
        }
    }
}

// S1-22: no file of the audit, including its write-ahead log, contains message bodies or secrets that are passed to tools.
#[tokio::test]
async fn no_body_and_no_secret_is_in_the_files_of_the_audit() {
    for required in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("audit.db"))
            .await
            .unwrap();
        let audit = if required {
            Audit::required(store.clone())
        } else {
            Audit::best_effort(store.clone())
        };
        let gate = Gate::builder().audit(audit).build();
        let tools = toolset![post_letter].through(&gate);
        let arguments = |body: &str, end: &str| {
            serde_json::json!({"to": "bob", "body": body, "end": end}).to_string()
        };
        let with_key = format!("{BODY} {KEY}");
        let mut calls: Vec<_> = ["ok", "error", "hidden", "panic"]
            .into_iter()
            .flat_map(|end| [(end, BODY), (end, &with_key)])
            .map(|(end, body)| ("post_letter", arguments(body, end)))
            .collect();
        // The tool does not run for these calls.
        calls.push(("post_letter", format!(r#"{{"to":7,"body":"{BODY}"}}"#)));
        calls.push(("post_letter", format!(r#"{{"to":"bob","body":"{BODY}"#)));
        calls.push(("post_leter", arguments(&with_key, "ok")));
        for (at, (tool, arguments)) in calls.iter().enumerate() {
            let id = format!("letter-number-{at}");
            tools
                .call(ToolCall::new(id, *tool, arguments), &context())
                .await;
        }
        if let Some(buffer) = gate.audit().buffer() {
            buffer.flush().await.unwrap();
        }
        let rows = store.export(Scope::All, &AuditFilter::default()).await;
        assert_eq!(rows.unwrap().len(), calls.len());

        let names: Vec<_> = files(folder.path())
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["audit.db", "audit.db-shm", "audit.db-wal"]);
        are_absent(folder.path(), &[KEY, BODY_PART], "letter-number-1");
        store.close().await;
        are_absent(folder.path(), &[KEY, BODY_PART], "letter-number-1");
    }
}

// S1-22: no secret is in the files of a database with ledger, approvals, audit and messages of the thread.
#[tokio::test]
async fn no_secret_is_in_the_files_of_any_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("state.db"))
        .await
        .unwrap();
    let gate = Gate::builder()
        .approvals(approvals(&store))
        .ledger(store.clone())
        .audit(Audit::required(store.clone()))
        .build();
    let tools = toolset![post_letter, post_dear_letter].through(&gate);
    let letter = |end: &str| {
        let arguments = serde_json::json!({"to": "bob", "body": "short", "end": end});
        ToolCall::new(end, "post_letter", arguments.to_string())
    };
    let mut model = Script::new(vec![
        ModelMessage::calls(["ok", "error", "hidden", "panic"].map(letter)),
        ModelMessage::calls([ToolCall::new(
            "dear",
            "post_dear_letter",
            r#"{"body":"a dear letter"}"#,
        )]),
    ]);
    let turns = Turns::new(store.clone());
    let (cx, acme) = (context(), "acme".into());
    loop {
        let driven = turns.drive(&mut model, |_| tools.clone(), &cx);
        match driven.await.unwrap() {
            Outcome::Answered(text) => {
                assert_eq!(text, "done");
                break;
            }
            Outcome::Waiting(tickets) => {
                for ticket in tickets {
                    let approvals = gate.approvals().unwrap();
                    let approved = approvals.answer(
                        &acme,
                        &tools,
                        &ticket.token,
                        Reply::Approve,
                        "boss",
                        None,
                    );
                    approved.await.unwrap();
                }
            }
            outcome => panic!("{outcome:?}"),
        }
    }
    are_absent(folder.path(), &[KEY], "a dear letter");
    store.close().await;
    are_absent(folder.path(), &[KEY], "a dear letter");
}
