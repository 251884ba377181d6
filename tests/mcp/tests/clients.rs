//! Clients that people use: they list, call, hear of progress, cancel and see errors.

mod support;

use support::{FIXTURE, Server, python, run, script};
use test_clients::Node;

#[test]
fn python_1() {
    let server = Server::start(&[]);
    for (way, place) in [("http", server.address.as_str()), ("stdio", FIXTURE)] {
        if let Some(said) = python("mcp1", "mcp1.py", &[way, place]) {
            assert_eq!(said.trim(), "done");
            if way == "http" {
                server.until("dropped wait_for_ever");
            }
        }
    }
}

#[test]
fn python_2() {
    let server = Server::start(&[]);
    for (way, place) in [("http", server.address.as_str()), ("stdio", FIXTURE)] {
        if let Some(said) = python("mcp2", "mcp2.py", &[way, place]) {
            assert_eq!(said.trim(), "done");
            if way == "http" {
                server.until("dropped wait_for_ever");
            }
        }
    }
}

#[test]
fn typescript() {
    let server = Server::start(&[]);
    let Some(node) = Node::with("@modelcontextprotocol/sdk") else {
        return;
    };
    for (way, place) in [("http", server.address.as_str()), ("stdio", FIXTURE)] {
        assert_eq!(script(&node, "sdk.mjs", &[way, place]).trim(), "done");
    }
    server.until("dropped wait_for_ever");
}

#[test]
fn ai_sdk() {
    let server = Server::start(&[]);
    let Some(node) = Node::with("@ai-sdk/mcp") else {
        return;
    };
    assert_eq!(script(&node, "ai.mjs", &[&server.address]).trim(), "done");
    server.until("dropped wait_for_ever");
}

#[test]
fn inspector() {
    let server = Server::start(&[]);
    let Some(node) = Node::with("@modelcontextprotocol/inspector") else {
        return;
    };
    let launcher = node.package("@modelcontextprotocol/inspector/clients/launcher/build/index.js");
    for place in [
        vec![server.address.as_str(), "--transport", "http"],
        vec![FIXTURE, "--stdio"],
    ] {
        let ask = |arguments: &[&str]| {
            let all: Vec<&str> = [&["--cli"][..], &place, arguments].concat();
            run(&node, &launcher, &all)
        };
        let listed = support::said(&ask(&["--method", "tools/list"]));
        assert!(listed.contains(r#""title": "Add""#), "{listed}");
        let call = ["--method", "tools/call", "--tool-name"];
        let called = support::said(&ask(&[&call[..], &["add", "--tool-arg", "a=41"]].concat()));
        assert!(called.contains(r#""sum": 42"#), "{called}");
        let wrong = ask(&[&call[..], &["add", "--tool-arg", "c=many"]].concat());
        let wrong = String::from_utf8_lossy(&wrong.stdout).into_owned();
        assert!(
            wrong.contains(r#""isError": true"#) && wrong.contains("/c"),
            "{wrong}"
        );
    }
}
