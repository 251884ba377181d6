//! Tests with a compromised engine. Its frames can do no more than the code of a run.

use std::time::Duration;

use serde_json::json;
use tool_code::{Code, Limits, RunResult, Status};
use tool_core::Gate;
use tool_core::prelude::*;
use tool_isolate::Isolation;

use crate::support::{Diary, limits, message};

/// Logs the call, and returns 0.
#[tool(read_only)]
fn look(diary: &Diary) -> u8 {
    diary.write("looked");
    0
}

/// Removes an entry.
#[tool(destructive)]
fn remove(diary: &Diary) -> u8 {
    diary.write("removed");
    0
}

/// Logs the call, and returns the number.
#[tool]
fn count(
    diary: &Diary,
    /// The number to take.
    number: u8,
) -> u8 {
    diary.write("counted");
    number
}

/// Runs an engine that executes these lines. Returns the result and the log of the tools.
async fn says(lines: &str) -> (RunResult, Vec<String>) {
    says_within(limits().time, lines).await
}

/// Does the same as `says`, with a time limit of one second, which ends a run whose engine waits forever.
async fn says_until_the_limit(lines: &str) -> (RunResult, Vec<String>) {
    says_within(Duration::from_secs(1), lines).await
}

async fn says_within(time: Duration, lines: &str) -> (RunResult, Vec<String>) {
    let isolation = Isolation::new().helper(env!("CARGO_BIN_EXE_compromised-engine"));
    let limits = Limits {
        calls: 5,
        reports: 5,
        time,
        code: 1 << 20,
        ..limits()
    };
    let setup = Code::builder()
        .isolation(isolation)
        .limits(limits)
        .build()
        .unwrap();
    let diary = Diary::default();
    let cx = ToolContext::builder().with(diary.clone()).build();
    let tools = toolset![look, remove, count].through(&Gate::builder().build());
    let result = setup.start(lines, &tools, &cx).finish().await.unwrap();
    (result, diary.read())
}

const DONE: &str = r#"say {"done":{"status":"success","result":1,"error":null,"logs_dropped":0}}"#;

fn call(name: &str, arguments: &str) -> String {
    let call = json!({"call": {"id": 0, "name": name, "arguments": arguments}});
    format!("say {call}")
}

#[tokio::test]
async fn the_test_engine_follows_the_protocol() {
    let (result, did) = says(&format!("say \"started\"\n{}\n{DONE}", call("look", "{}"))).await;
    assert_eq!(
        (result.status, result.result.get()),
        (Status::Success, "1"),
        "{result:?}"
    );
    assert!(did.len() <= 1);
}

// M18: a compromised engine cannot forge a permit.
#[tokio::test]
async fn compromised_engine_cannot_make_unpermitted_calls() {
    for name in ["remove", "run_code", "", "look ", "LOOK", "nothing"] {
        let (result, did) = says(&format!("{}\nwait", call(name, "{}"))).await;
        assert_eq!(result.status, Status::Error, "{name}: {result:?}");
        assert_eq!(did, Vec::<String>::new());
    }
    // Calls of a compromised engine are validated like any other call.
    for arguments in [
        "",
        "{",
        r#"{"number":-1}"#,
        r#"{"number":1,"permit":true}"#,
        "[]",
        "null",
    ] {
        let lines = format!("{}\nwait", call("count", arguments));
        let (result, did) = says_until_the_limit(&lines).await;
        assert_eq!(
            (result.status, did.len()),
            (Status::Terminated, 0),
            "{arguments}: {result:?}"
        );
    }
    // The engine sends more calls than the limit of the run.
    let many = call("look", "{}").replacen("say", "many 1000", 1);
    let (result, did) = says(&format!("{many}\nwait")).await;
    assert_eq!(result.status, Status::Error, "{result:?}");
    assert!(did.len() <= 5, "{did:?}");
}

#[tokio::test]
async fn malformed_frames_end_only_the_run() {
    let long = "x".repeat(300 << 10);
    let nonsense = [
        "raw ffffffff".to_owned(),
        "raw 00000003616263".to_owned(),
        "raw 0000000400ff00ff".to_owned(),
        "say {}".to_owned(),
        "say null".to_owned(),
        "say \"started\" {}".to_owned(),
        r#"say {"permit":{}}"#.to_owned(),
        r#"say {"done":{"status":"great","result":1,"error":null,"logs_dropped":0}}"#.to_owned(),
        r#"say {"done":{"status":"success","result":1,"error":null,"logs_dropped":0,"permit":1}}"#.to_owned(),
        r#"say {"call":{"id":-1,"name":"look","arguments":"{}"}}"#.to_owned(),
        r#"say {"call":{"id":0,"name":"look","arguments":{}}}"#.to_owned(),
        r#"many 6 {"report":{"value":1}}"#.to_owned(),
        format!(r#"say {{"report":{{"value":"{long}"}}}}"#),
        format!(r#"say {{"log":{{"level":"info","text":"{long}"}}}}"#),
        format!(r#"say {{"done":{{"status":"success","result":"{long}","error":null,"logs_dropped":0}}}}"#),
        format!(r#"say {{"done":{{"status":"error","result":null,"error":{{"name":"E","message":"{long}"}},"logs_dropped":0}}}}"#),
        r#"many 1000000 {"log":{"level":"info","text":"flood flood flood flood flood flood flood"}}"#.to_owned(),
        r#"many 1000000 {"log":{"level":"info","text":""}}"#.to_owned(),
    ];
    for lines in nonsense {
        let (result, did) = says(&format!("{lines}\nwait")).await;
        let shown = &lines[..lines.len().min(60)];
        assert_eq!(
            message(&result),
            "the engine's process failed, the code cannot be run",
            "{shown}: {:?}",
            result.error
        );
        assert_eq!((result.status, did.len()), (Status::Error, 0), "{shown}");
    }
}

#[tokio::test]
async fn silent_or_closed_engine_does_not_block_the_run() {
    let (result, _) = says_until_the_limit("wait").await;
    assert_eq!(result.status, Status::Terminated);
    for lines in ["close", "say \"started\"\nclose", "raw 000000ff22\nclose"] {
        let (result, _) = says(lines).await;
        assert_eq!(
            (result.status, message(&result)),
            (
                Status::Error,
                "the engine's process ended before the code finished: do less in one run"
            ),
            "{lines}"
        );
    }
}

// S4-05, S4-06: the process of a compromised engine has no environment variables, starts in `/`, and has the limits of the run.
#[tokio::test]
async fn compromised_engine_sees_no_host_data() {
    let folder = tempfile::tempdir().unwrap();
    let (result, _) = says(&format!("try {} 1\n{DONE}", folder.path().display())).await;
    assert_eq!(result.status, Status::Success, "{result:?}");
    let can: serde_json::Value = serde_json::from_str(result.reports[0].get()).unwrap();
    assert_eq!(can["variables"], json!([]));
    assert_eq!(can["folder"], "/");
    assert_eq!((&can["files"], &can["file_size"]), (&json!(64), &json!(0)));
    let memory = (limits().memory * 4 + (512 << 20)) as u64;
    assert_eq!(can["data"], memory);
}
