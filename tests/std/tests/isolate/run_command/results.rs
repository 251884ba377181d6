//! Results and errors of `run_command`.

use std::pin::pin;

use futures::StreamExt as _;
use serde_json::{Value, json};
use tempfile::tempdir;
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_std::isolate::{Keep, Limits};
use tool_std::process::run_command;
use tool_std::workspace::Workspaces;

use super::support::{Place, commands};

#[tokio::test]
async fn arguments_arrive_unchanged() {
    let place = Place::new(commands());
    let words = ["a b", "$HOME", "*", "\"q\"", "a\nb", "", "--", "ä"];
    let mut command = vec!["printf", "[%s]"];
    command.extend(words);
    let output = place.run(json!({ "command": command })).await;
    assert_eq!(
        output["stdout"],
        words.map(|word| format!("[{word}]")).concat()
    );
}

#[tokio::test]
async fn the_exit_code_and_both_streams_are_in_the_result() {
    let place = Place::new(commands().shell("/bin/sh"));
    let output = place
        .run(json!({ "command": ["echo out; echo err >&2; exit 3"] }))
        .await;
    assert_eq!(output["ended"], "exited");
    assert_eq!(output["exit_code"], 3);
    assert_eq!(output["note"], Value::Null);
    assert_eq!(
        (output["stdout"].as_str(), output["stderr"].as_str()),
        (Some("out\n"), Some("err\n"))
    );
    let output = place.run(json!({ "command": ["kill -KILL $$"] })).await;
    assert_eq!(
        (&output["ended"], &output["exit_code"]),
        (&json!("killed"), &json!(137))
    );
}

// S1-94: the result of a command that exceeds its timeout states the timeout.
#[tokio::test]
async fn timeout_is_reported_with_its_duration() {
    let place = Place::new(commands());
    let output = place
        .run(json!({ "command": ["sleep", "60"], "timeout_seconds": 1 }))
        .await;
    assert_eq!(output["ended"], "timed_out");
    assert_eq!(output["exit_code"], 124);
    assert_eq!(
        output["note"],
        "The command timed out after 1 s and was killed with all processes that it started."
    );
    assert!(output["duration_ms"].as_u64().unwrap() >= 1000, "{output}");
}

// S1-93: the host limits the timeout that a call sets, and the part of the output that the result contains.
#[tokio::test]
async fn limits_are_set_by_call_and_by_host() {
    let place = Place::new(commands().most(std::time::Duration::from_millis(700)));
    let output = place
        .run(json!({ "command": ["sleep", "60"], "timeout_seconds": 3600 }))
        .await;
    assert!(
        output["note"]
            .as_str()
            .unwrap()
            .starts_with("The command timed out after 0.7 s"),
        "{output}"
    );
    let place = Place::new(commands().keep(Keep {
        head: 5,
        tail: 3,
        limit: 100,
    }));
    let output = place
        .run(json!({ "command": ["printf", "0123456789abcdef"] }))
        .await;
    assert_eq!(output["stdout"], "01234\n… 8 bytes left out …\ndef");
    assert_eq!(
        (&output["stdout_bytes"], &output["ended"]),
        (&json!(16), &json!("exited"))
    );
}

// S1-92: a command is killed when its output exceeds the limit.
#[tokio::test]
async fn a_flood_is_killed_at_the_limit() {
    let place = Place::new(commands());
    let output = place
        .run(json!({ "command": ["yes", "flood"], "timeout_seconds": 60 }))
        .await;
    assert_eq!(output["ended"], "too_much_output");
    assert!(
        output["note"]
            .as_str()
            .unwrap()
            .starts_with("The command wrote more than 5000000 bytes and was killed"),
        "{output}"
    );
    assert!(output["stdout"].as_str().unwrap().len() < 40_000);
    assert!(output["stdout_bytes"].as_u64().unwrap() < 5_100_000);
}

// S1-92: both streams share one limit.
#[tokio::test]
async fn both_output_streams_share_one_limit() {
    let keep = Keep {
        head: 100,
        tail: 100,
        limit: 1_000_000,
    };
    let place = Place::new(commands().shell("/bin/sh").keep(keep));
    let much = "head -c 600000 /dev/zero | tr '\\0' x";
    let out = place.run(json!({ "command": [much] })).await;
    assert_eq!(
        (&out["ended"], &out["stdout_bytes"]),
        (&json!("exited"), &json!(600_000))
    );
    let script = format!("{much}; {{ {much}; }} >&2; sleep 60; echo over > over");
    let out = place.run(json!({ "command": [script] })).await;
    assert_eq!(out["ended"], "too_much_output", "{out}");
    let bytes = |stream: &str| out[stream].as_u64().unwrap();
    let (one, other) = (bytes("stdout_bytes"), bytes("stderr_bytes"));
    assert!(one <= 600_000 && other <= 600_000, "{one} {other}");
    assert!(one + other > 1_000_000, "{one} {other}");
    assert!(
        out["note"]
            .as_str()
            .unwrap()
            .starts_with("The command wrote more than 1000000 bytes and was killed"),
        "{out}"
    );
    assert!(
        !place
            .root
            .path()
            .join("acme/conversations/c1/over")
            .exists()
    );
}

#[tokio::test]
async fn output_is_streamed_in_whole_lines() {
    let place = Place::new(commands().shell("/bin/sh"));
    let script = "echo one; while [ ! -e go ]; do sleep 0.01; done; printf tw; sleep 0.1; echo o; echo err >&2; printf end";
    let tools = Registry::builder()
        .tool::<run_command>()
        .build()
        .unwrap()
        .open();
    let arguments = json!({ "command": [script] }).to_string();
    let cx = place.context();
    let mut events = pin!(tools.stream(ToolCall::new("1", "run_command", arguments), &cx));
    let mut printed = [String::new(), String::new()];
    while let Some(event) = events.next().await {
        let ToolEvent::Progress(value) = event else {
            continue;
        };
        let step: Value = serde_json::from_str(value.get()).unwrap();
        let text = step["text"].as_str().unwrap();
        // The command waits for this file. This proves that its first line was reported while it ran.
        std::fs::write(place.root.path().join("acme/conversations/c1/go"), "").unwrap();
        assert!(text.ends_with('\n') || text == "end", "{text}");
        printed[usize::from(step["stream"] == "stderr")].push_str(text);
    }
    assert_eq!(printed, ["one\ntwo\nend", "err\n"]);
}

#[tokio::test]
async fn command_runs_only_in_workspace_folders() {
    let place = Place::new(commands());
    place
        .run(json!({ "command": ["mkdir", "-p", "a/b"] }))
        .await;
    place
        .run(json!({ "command": ["ln", "-s", "/usr", "out"] }))
        .await;
    let output = place.run(json!({ "command": ["pwd"], "cwd": "a/b" })).await;
    assert!(
        output["stdout"]
            .as_str()
            .unwrap()
            .ends_with("/acme/conversations/c1/a/b\n"),
        "{output}"
    );
    for cwd in [
        "..", "/", "/usr", "a/../..", "out", "out/bin", "missing", "a\0b",
    ] {
        let said = place
            .refused(json!({ "command": ["pwd"], "cwd": cwd }))
            .await;
        assert!(
            said.contains("workspace") || said.contains("NUL") || said.contains("null"),
            "{cwd}: {said}"
        );
    }
}

#[tokio::test]
async fn shell_is_refused_unless_the_host_allows_it() {
    let place = Place::new(commands());
    for command in [
        json!(["sh", "-c", "id"]),
        json!(["/bin/bash", "-lc", "id"]),
        json!(["dash", "-ec", "id"]),
    ] {
        let said = place.refused(json!({ "command": command })).await;
        assert!(said.starts_with("there is no shell here"), "{said}");
    }
    // A script in a file is accepted with its arguments; it is not a shell line.
    place
        .run(json!({ "command": ["cp", "/dev/null", "build.sh"] }))
        .await;
    let output = place
        .run(json!({ "command": ["sh", "build.sh", "-race"] }))
        .await;
    assert_eq!(output["exit_code"], 0, "{output}");
    let said = place.refused(json!({ "command": ["echo hi > x"] })).await;
    assert!(
        said.starts_with("there is no program `echo hi > x`, write the program and each"),
        "{said}"
    );
    let said = place
        .refused(json!({ "command": ["no-such-program", "x"] }))
        .await;
    assert_eq!(said, "there is no program `no-such-program`");
    let place = Place::new(commands().shell("/bin/sh"));
    let output = place.run(json!({ "command": ["echo hi | tr h H"] })).await;
    assert_eq!(output["stdout"], "Hi\n");
}

#[tokio::test]
async fn stdin_is_sent_and_invalid_utf8_is_replaced() {
    let place = Place::new(commands());
    let output = place
        .run(json!({ "command": ["wc", "-c"], "stdin": "x".repeat(1 << 20) }))
        .await;
    assert_eq!(output["stdout"], "1048576\n");
    let output = place.run(json!({ "command": ["cat"] })).await;
    assert_eq!(output["stdout"], "");
    let output = place.run(json!({ "command": ["printf", "a\\377b"] })).await;
    assert_eq!(output["stdout"], "a\u{fffd}b");
}

#[tokio::test]
async fn command_over_its_memory_limit_fails() {
    let place = Place::new(commands().limits(Limits::default().memory(128 << 20)));
    let output = place
        .run(json!({ "command": ["python3", "-c", "bytearray(1 << 30)"] }))
        .await;
    assert_ne!(output["exit_code"], 0, "{output}");
}

#[tokio::test]
async fn commands_need_isolation_and_a_workspace() {
    let tools = Registry::builder()
        .tool::<run_command>()
        .build()
        .unwrap()
        .open();
    let call = || ToolCall::new("1", "run_command", r#"{"command": ["true"]}"#);
    let root = tempdir().unwrap();
    let workspaces = Workspaces::new(root.path());
    let only_workspace = ToolContext::builder()
        .workspace("acme")
        .conversation("c1")
        .with(workspaces)
        .build();
    let only_commands = ToolContext::builder().with(commands()).build();
    for cx in [only_workspace, only_commands, ToolContext::anonymous()] {
        let result = tools.call(call(), &cx).await;
        assert_eq!(result.error().unwrap().kind(), ErrorKind::Unavailable);
    }
}

#[test]
fn run_command_declares_all_effects() {
    let registry = Registry::builder().tool::<run_command>().build().unwrap();
    let tools = registry.open();
    let def = tools.get("run_command").unwrap();
    assert_eq!(def.effect(), tool_core::Effect::ALL);
}
