//! A user interface built with the real AI SDK package and a server of this project. The interface shows progress, approvals, outputs, errors and
//! denials, and a turn continues after the user has answered.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[path = "../support.rs"]
mod support;

mod server;

use std::process::ExitCode;

use serde_json::{Value, json};
use test_support::{Ran, suite};

use server::Server;

fn main() -> ExitCode {
    suite![
        version_7_shows_approvals_and_progress_case,
        version_6_shows_approvals_and_progress_case,
        version_5_accepts_dynamic_calls_case,
        version_6_shows_dynamic_calls_case,
        version_7_shows_dynamic_calls_case
    ]
    .run()
}

/// Returns the states of one call in the order in which the interface showed them.
fn states<'a>(said: &'a Value, call: &str) -> Vec<&'a [Value]> {
    let states = said["states"].as_array().unwrap();
    let states = states.iter().map(|state| state.as_array().unwrap());
    states
        .filter(|state| state[0] == call)
        .map(|state| &state[1..])
        .collect()
}

async fn drive(package: &str) -> Ran {
    let server = Server::start().await;
    let said = support::node(package, "interface.mjs", &[package, &server.address]).await?;
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["error"], Value::Null);
    assert_eq!(
        said["messages"], 2,
        "the interface does not merge both answers into one message: {said}"
    );

    // The user sees the final arguments, including a default that the model left out.
    let newest = package == "ai";
    let reason = if newest {
        json!("a mail cannot be called back")
    } else {
        Value::Null
    };
    assert_eq!(
        said["asked"],
        json!([
            {"input": {"to": "bob", "copies": 1}, "title": "Send a mail", "reason": reason},
            {"input": {"to": "eve", "copies": 2}, "title": "Send a mail", "reason": reason},
        ])
    );

    // Each progress value replaces the previous value, and the output replaces the last progress value.
    let import = states(&said, "call_1");
    assert_eq!(import[0][0], "input-streaming", "{import:?}");
    assert_eq!(
        import[import.len() - 4..],
        [
            &[json!("input-available"), Value::Null][..],
            &[
                json!("output-available"),
                json!("preliminary"),
                json!({"rows": 1})
            ],
            &[
                json!("output-available"),
                json!("preliminary"),
                json!({"rows": 2})
            ],
            &[json!("output-available"), json!({"imported": 2})],
        ]
    );
    let last = |call: &str| states(&said, call).last().unwrap().to_vec();
    assert_eq!(
        last("call_2"),
        [json!("output-error"), json!("the disk is full")]
    );
    let words = |call: &str| -> Vec<String> {
        let mut words: Vec<String> = states(&said, call)
            .iter()
            .map(|state| state[0].as_str().unwrap().to_owned())
            .collect();
        words.dedup();
        words
    };
    let asked = [
        "input-streaming",
        "input-available",
        "approval-requested",
        "approval-responded",
    ];
    assert_eq!(
        words("call_3"),
        [&asked[..], &["output-available"]].concat()
    );
    assert_eq!(words("call_4"), [&asked[..], &["output-denied"]].concat());
    assert_eq!(last("call_3")[1], "sent to bob");

    let parts = said["parts"].as_array().unwrap();
    let part = |call: &str| {
        parts
            .iter()
            .find(|part| part["toolCallId"] == call)
            .unwrap()
    };
    assert_eq!(part("call_1")["type"], "tool-import");
    assert_eq!(part("call_4")["approved"], false);
    assert_eq!(part("call_4")["reason"], "so I say");
    // The interface shows a call of a nonexistent tool as a part too.
    assert_eq!(part("call_5")["type"], "dynamic-tool");
    assert_eq!(part("call_5")["state"], "output-error");
    // The model's reasoning is a separate part before its answer.
    let texts: Vec<[&str; 2]> = parts
        .iter()
        .filter_map(|part| Some([part["type"].as_str()?, part["text"].as_str()?]))
        .collect();
    assert_eq!(
        texts,
        [
            ["reasoning", "Five calls."],
            ["text", "I will."],
            ["text", "All is done."]
        ]
    );

    // Each tool ran once.
    assert_eq!(server.mails(), ["bob"]);
    assert_eq!(server.requests(), 2);
    Ok(())
}

// S2-14, S2-15, S2-18, S2-21: the newest version of the AI SDK shows approvals, resumed turns and progress.
async fn version_7_shows_approvals_and_progress_case() -> Ran {
    drive("ai").await
}

// S2-14, S2-15, S2-18, S2-21: the previous version shows approvals, resumed turns and progress. Its approvals have no reasons.
async fn version_6_shows_approvals_and_progress_case() -> Ran {
    drive("ai-6").await
}

/// Runs a turn that calls tools created at run time and a nonexistent tool.
async fn drive_dynamic(package: &str) -> Ran {
    let server = Server::start().await;
    let address = format!("{}/unasked", server.address);
    let said = support::node(package, "interface.mjs", &[package, &address]).await?;
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["error"], Value::Null);
    let parts = said["parts"].as_array().unwrap();
    let calls: Vec<Value> = parts
        .iter()
        .filter(|part| part["toolCallId"].is_string())
        .map(|part| {
            json!([
                part["type"],
                part["state"],
                part["output"],
                part["errorText"]
            ])
        })
        .collect();
    let unknown = "there is no tool `paint`";
    assert_eq!(
        calls[..3],
        [
            json!(["tool-import", "output-available", {"imported": 2}, null]),
            json!(["dynamic-tool", "output-available", 1, null]),
            json!(["dynamic-tool", "output-error", null, "the tool is broken"]),
        ]
    );
    assert_eq!(calls[3][1], "output-error");
    assert!(
        calls[3][3].as_str().unwrap().starts_with(unknown),
        "{calls:?}"
    );
    Ok(())
}

// The outputs of dynamic calls are marked as dynamic; otherwise version 5, which does not support approvals, throws an error.
async fn version_5_accepts_dynamic_calls_case() -> Ran {
    drive_dynamic("ai-5").await
}

// Version 6 shows the outputs and errors of dynamic calls.
async fn version_6_shows_dynamic_calls_case() -> Ran {
    drive_dynamic("ai-6").await
}

// Version 7 shows the outputs and errors of dynamic calls.
async fn version_7_shows_dynamic_calls_case() -> Ran {
    drive_dynamic("ai").await
}
