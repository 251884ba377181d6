//! Tests of the chat endpoint with the real client of the AI SDK.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};
use test_support::{Node, Ran};
use tokio::process::Command;

use crate::host::{Host, Kind};

/// Plays scenarios in the AI SDK, and returns the messages that its interface shows in each of them.
async fn play(
    host: &Host,
    package: &str,
    scenarios: &[&str],
) -> Result<Value, test_support::Missing> {
    let node = Node::with(package)?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("clients/chat.mjs");
    let (_folder, copy) = node.beside(&script).unwrap();
    let mut command = Command::from(node.command());
    command
        .arg(copy)
        .args([package, &format!("http://{}", host.first.address)])
        .args(scenarios)
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = command.output().await.unwrap();
    let [out, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{}\n{out}\n{error}", output.status);
    Ok(serde_json::from_str(&out).unwrap())
}

/// Returns the text parts of a message, joined.
fn text(message: &Value) -> String {
    let parts = message["parts"].as_array().unwrap();
    let texts = parts.iter().filter(|part| part["type"] == "text");
    texts.map(|part| part["text"].as_str().unwrap()).collect()
}

/// Returns the type, the state and the output of each part of a message that belongs to a call.
fn calls(message: &Value) -> Vec<Value> {
    let parts = message["parts"].as_array().unwrap();
    let calls = parts.iter().filter(|part| part["toolCallId"].is_string());
    calls
        .map(|part| json!([part["type"], part["state"], part["output"]]))
        .collect()
}

/// Checks the scenarios that every version supports.
fn check(told: &Value, host: &Host) {
    let answer = &told["answer"];
    assert_eq!(answer["failed"], Value::Null, "{answer}");
    let messages = answer["messages"].as_array().unwrap();
    assert_eq!(
        messages.iter().map(text).collect::<Vec<_>>(),
        ["hello", "Hello.", "again", "Hello."]
    );
    assert_eq!(
        [&messages[1]["id"], &messages[3]["id"]],
        ["answer-1", "answer-3"]
    );

    let approve = &told["approve"];
    assert_eq!(
        (&approve["failed"], &approve["asked"]),
        (&Value::Null, &json!(2)),
        "{approve}"
    );
    let messages = approve["messages"].as_array().unwrap();
    assert_eq!(
        messages.len(),
        2,
        "the run continues in one message: {approve}"
    );
    assert_eq!(
        calls(&messages[1]),
        [
            json!(["tool-send_mail", "output-available", "sent to bob"]),
            json!(["tool-send_mail", "output-denied", null])
        ]
    );
    assert_eq!(text(&messages[1]), "2 results");
    assert_eq!(host.world.mails(), ["bob"]);

    let client = &told["client"];
    assert_eq!(client["failed"], Value::Null, "{client}");
    let messages = client["messages"].as_array().unwrap();
    assert_eq!(messages.len(), 2, "{client}");
    assert_eq!(
        calls(&messages[1]),
        [json!(["dynamic-tool", "output-available", {"color": "red"}])]
    );
    assert_eq!(text(&messages[1]), "1 results");

    let stop = &told["stop"];
    assert_eq!(
        (&stop["failed"], &stop["status"]),
        (&Value::Null, &json!(204)),
        "{stop}"
    );
    let messages = stop["messages"].as_array().unwrap();
    assert_eq!(
        messages.iter().map(text).collect::<Vec<_>>(),
        ["slow", "one ", "hello", "Hello."]
    );

    let fail = &told["fail"];
    assert_eq!(
        fail["failed"],
        "the answer could not be completed, try again"
    );
    let messages = fail["messages"].as_array().unwrap();
    assert_eq!(
        messages.iter().map(text).collect::<Vec<_>>(),
        ["fail once", "Hello."]
    );

    assert_eq!(text(&told["read"]["last"]), "Hello.");
}

// S2-14, S2-15, S2-18: the newest version of the AI SDK shows answers, approvals, client tools, a stopped answer, a failed answer, a resumed
// stream, and a window that loaded only the user's message.
pub(crate) async fn ai_sdk_shows_every_scenario_case(kind: Kind) -> Ran {
    let host = Host::start(kind).await;
    let all = [
        "answer", "approve", "client", "stop", "fail", "read", "resume", "window",
    ];
    let told = play(&host, "ai", &all).await?;
    check(&told, &host);

    let resume = &told["resume"];
    assert_eq!(
        (&resume["failed"], &resume["idle"]),
        (&Value::Null, &Value::Null),
        "{resume}"
    );
    let messages = resume["messages"].as_array().unwrap();
    assert_eq!(
        messages.iter().map(text).collect::<Vec<_>>(),
        ["slow", "one two"]
    );

    // A window that has loaded only the user's message also shows the calls of the earlier runs.
    let window = &told["window"];
    assert_eq!(window["failed"], Value::Null, "{window}");
    let messages = window["messages"].as_array().unwrap();
    let denied = json!(["tool-send_mail", "output-denied", null]);
    assert_eq!(calls(&messages[1]), [denied.clone(), denied], "{window}");
    assert_eq!(text(&messages[1]), "one two");
    Ok(())
}

// S2-14, S2-15, S2-18: version 6 of the AI SDK shows the same, except the last two, because it does not treat a resumed stream as a replay.
pub(crate) async fn ai_sdk_6_shows_every_scenario_except_resumed_streams_case() -> Ran {
    let host = Host::start(Kind::Memory).await;
    let told = play(
        &host,
        "ai-6",
        &["answer", "approve", "client", "stop", "fail", "read"],
    )
    .await?;
    check(&told, &host);
    Ok(())
}
