//! Tests with real MCP clients, which list and call tools of the test server, receive progress, cancel calls and read errors.

use test_support::{Node, Ran};

use crate::support::{self, FIXTURE, Server, python, run, script};

fn python_client(environment: &str, name: &str) -> Ran {
    let interpreter = test_support::python(environment)?;
    let server = Server::start(&[]);
    for (way, place) in [("http", server.address.as_str()), ("stdio", FIXTURE)] {
        let said = python(&interpreter, name, &[way, place]);
        assert_eq!(said.trim(), "done");
        if way == "http" {
            server.until("dropped wait_for_ever");
        }
    }
    Ok(())
}

pub(crate) fn python_1_case() -> Ran {
    python_client("mcp1", "mcp1.py")
}

pub(crate) fn python_2_case() -> Ran {
    python_client("mcp2", "mcp2.py")
}

pub(crate) fn typescript_case() -> Ran {
    let node = Node::with("@modelcontextprotocol/sdk")?;
    let server = Server::start(&[]);
    for (way, place) in [("http", server.address.as_str()), ("stdio", FIXTURE)] {
        assert_eq!(script(&node, "sdk.mjs", &[way, place]).trim(), "done");
    }
    server.until("dropped wait_for_ever");
    Ok(())
}

pub(crate) fn ai_sdk_case() -> Ran {
    let node = Node::with("@ai-sdk/mcp")?;
    let server = Server::start(&[]);
    assert_eq!(script(&node, "ai.mjs", &[&server.address]).trim(), "done");
    server.until("dropped wait_for_ever");
    Ok(())
}

pub(crate) fn inspector_case() -> Ran {
    let node = Node::with("@modelcontextprotocol/inspector")?;
    let server = Server::start(&[]);
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
    Ok(())
}
