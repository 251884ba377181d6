//! The packs over MCP: clients that people use call each tool once.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use test_clients::Node;

const PACKS: &str = env!("CARGO_BIN_EXE_packs");

/// A call, and what its result says.
struct Once {
    tool: &'static str,
    arguments: Value,
    says: &'static str,
}

fn once(tool: &'static str, arguments: Value, says: &'static str) -> Once {
    Once {
        tool,
        arguments,
        says,
    }
}

/// Each tool once, in an order in which each finds what it needs.
fn calls() -> Vec<Once> {
    vec![
        once("log_hello_world", json!({}), r#""logged":true"#),
        once(
            "slow_count",
            json!({"to": 2, "pause_ms": 0}),
            r#""count":2"#,
        ),
        once(
            "write_file",
            json!({"path": "plan.md", "content": "# Plan\n1. Begin\n"}),
            r#""created":true"#,
        ),
        once("read_file", json!({"path": "plan.md"}), "1. Begin"),
        once(
            "read_file_parts",
            json!({"parts": [{"path": "plan.md", "start_line": 2, "end_line": 2}]}),
            "1. Begin",
        ),
        once(
            "edit_file",
            json!({"path": "plan.md", "old_text": "Begin", "new_text": "Start"}),
            "plan.md",
        ),
        once("list_directory", json!({"path": "."}), "plan.md"),
        once("find_files", json!({"pattern": "*.md"}), "plan.md"),
        once("search_files", json!({"pattern": "St[a-z]+"}), "1. Start"),
    ]
}

/// What the packs work on: it goes with the test.
struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn settle(&self, command: &mut Command) {
        command.env("WORKSPACES_ROOT", self.folder.path());
    }
}

/// Ends with this.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

// S2-44
#[test]
fn the_python_client_uses_each_tool_once() {
    let Some(python) = test_clients::python("mcp2") else {
        return;
    };
    let world = World::new();
    let calls = calls();
    let asked: Vec<_> = calls
        .iter()
        .map(|call| json!({"tool": call.tool, "arguments": call.arguments}))
        .collect();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/each.py");
    let mut command = Command::new(python);
    command
        .arg(script)
        .arg(PACKS)
        .arg(Value::from(asked).to_string());
    world.settle(&mut command);
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}");
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();

    let mut names: Vec<_> = said["names"].as_array().unwrap().iter().collect();
    let mut called: Vec<_> = calls.iter().map(|call| json!(call.tool)).collect();
    names.sort_by_key(ToString::to_string);
    called.sort_by_key(ToString::to_string);
    assert_eq!(names, called.iter().collect::<Vec<_>>(), "each tool once");
    for (call, result) in calls.iter().zip(said["results"].as_array().unwrap()) {
        assert_eq!(result["error"], false, "{result}\n{told}");
        let text = result["text"].as_str().unwrap();
        assert!(text.contains(call.says), "{}: {text}", call.tool);
    }
}

#[test]
fn the_inspector_uses_each_tool_once() {
    let Some(node) = Node::with("@modelcontextprotocol/inspector") else {
        return;
    };
    let launcher = node.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    let world = World::new();
    let mut command = Command::new(PACKS);
    command
        .args(["serve", "--http", "127.0.0.1:0"])
        .stderr(Stdio::piped());
    world.settle(&mut command);
    // Nobody sits in front of it who could say yes.
    let policy = world.folder.path().join("policy.json");
    let rule = json!({"name": "trusted", "verdict": "allow", "tools": ["*"]});
    std::fs::write(&policy, json!({"rules": [rule]}).to_string()).unwrap();
    command.env("PACKS_POLICY", policy);
    let mut server = Server(command.spawn().unwrap());
    let mut line = String::new();
    let mut said = BufReader::new(server.0.stderr.take().unwrap());
    said.read_line(&mut line).unwrap();
    let address = line.split_whitespace().last().unwrap();
    for call in calls() {
        let output = node
            .command()
            .arg(&launcher)
            .args(["--cli", address, "--transport", "http"])
            .args(["--method", "tools/call", "--tool-name", call.tool])
            .args(["--tool-args-json", &call.arguments.to_string()])
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).replace("\\\"", "\"");
        let told = String::from_utf8_lossy(&output.stderr);
        // No policy lifts an approval that a tool always wants.
        let says = match call.tool {
            "log_hello_world" => "approved by a person",
            _ => call.says,
        };
        assert!(text.contains(says), "{}: {text}\n{told}", call.tool);
    }
}
