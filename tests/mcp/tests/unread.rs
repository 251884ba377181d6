//! Memory of a server whose client writes requests but reads no answers.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

const MESSAGES: usize = 20_000;

/// Returns the peak memory of a process in KiB.
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    line.unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

// H9: 20,000 messages that the client does not read took 103 MiB, compared with 47 MiB in rmcp.
#[test]
fn twenty_thousand_unread_answers_take_little_memory() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-fixture"))
        .args(["--tools-only", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    writeln!(input, "{initialize}").unwrap();
    answers.next().unwrap().unwrap();
    writeln!(
        input,
        r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#
    )
    .unwrap();
    let before = peak(child.id());
    for id in 1..=MESSAGES {
        writeln!(
            input,
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{{"a":{id}}}}}}}"#
        )
        .unwrap();
    }
    let read = answers.by_ref().take(MESSAGES).flatten().count();
    let grown = peak(child.id()) - before;
    drop(input);
    assert_eq!(read, MESSAGES);
    assert!(child.wait().unwrap().success());
    assert!(grown < 24 * 1024, "{grown} KiB");
}
