//! Tests of the `serve` command.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use rexpect::process::WaitStatus;
use rexpect::session::spawn_command;
use serde_json::{Value, json};

use crate::support::{DESK, command, desk};

const BEGIN: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

/// Sends a message and returns the response.
fn asked(to: &mut impl std::io::Write, from: &mut impl std::io::BufRead, message: &str) -> Value {
    writeln!(to, "{message}").unwrap();
    let mut line = String::new();
    from.read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Starts a server, and returns it with its standard input and output.
fn started(mut serve: Command) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    serve
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = serve.spawn().unwrap();
    let to = child.stdin.take().unwrap();
    let from = BufReader::new(child.stdout.take().unwrap());
    (child, to, from)
}

// S1-49, M8: `serve` lists only the visible tools over standard input and output, redacts secrets, and refuses calls that need an approval.
#[test]
fn visible_tools_are_served_over_stdio() {
    let mut serve = command(DESK, &["serve", "--variable", "STREET=Elm"]);
    serve.env("TOOL_SECRET_BOX_KEY", "key-4711-xyz");
    let (mut child, mut to, mut from) = started(serve);
    let begun = asked(&mut to, &mut from, BEGIN);
    assert_eq!(begun["result"]["serverInfo"]["name"], "desk");
    writeln!(
        to,
        r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#
    )
    .unwrap();

    let listed = asked(
        &mut to,
        &mut from,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    );
    let names: Vec<_> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"file_note") && names.contains(&"fetch_post"),
        "{names:?}"
    );
    assert!(!names.contains(&"forbidden"), "{names:?}");

    let mut call = |id: u32, name: &str, arguments: Value| {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}});
        asked(&mut to, &mut from, &message.to_string())["result"].clone()
    };
    let post = call(2, "fetch_post", json!({}));
    assert_eq!(
        post["content"][0]["text"],
        "opened the box in Elm with 12 letters of key [secret:box_key]"
    );
    // A repeated call with the same arguments runs again; it does not return the stored result of the earlier call.
    for title in ["a", "b", "b"] {
        let filed = call(
            3,
            "file_note",
            json!({"title": title, "place": {"shelf": "s"}}),
        );
        assert_eq!(filed["structuredContent"]["title"], title, "{filed}");
    }
    let letter = call(4, "send_letter", json!({"to": "a", "text": "b"}));
    assert_eq!(letter["isError"], true, "{letter}");
    drop(to);
    assert!(child.wait().unwrap().success());
}

// `serve --no-repair` switches argument repair off.
#[test]
fn no_repair_flag_disables_argument_repair() {
    for (words, refused) in [(&["serve"][..], false), (&["serve", "--no-repair"], true)] {
        let (mut child, mut to, mut from) = started(command(DESK, words));
        asked(&mut to, &mut from, BEGIN);
        writeln!(
            to,
            r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#
        )
        .unwrap();
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "file_note", "arguments": {
            "title": "a", "place": {"shelf": "s"}, "tags": "one",
        }}});
        let answer = asked(&mut to, &mut from, &call.to_string());
        let result = &answer["result"];
        assert_eq!(result["isError"] == true, refused, "{result}");
        drop(to);
        assert!(child.wait().unwrap().success());
    }
}

// S2-12, S2-13, S2-17: with `--approve-by-client`, the client's user approves or denies by elicitation.
#[test]
fn client_user_approves_by_elicitation_with_the_flag() {
    let serve = command(DESK, &["serve", "--approve-by-client"]);
    let (mut child, mut to, mut from) = started(serve);
    let begin = BEGIN.replace(
        r#""capabilities":{}"#,
        r#""capabilities":{"elicitation":{}}"#,
    );
    asked(&mut to, &mut from, &begin);
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    writeln!(to, "{ready}").unwrap();
    let letter = |id: u32| {
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "send_letter", "arguments": {"to": "a", "text": "b"}}}).to_string()
    };
    for (id, action) in [(1, "accept"), (2, "decline")] {
        let question = asked(&mut to, &mut from, &letter(id));
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert!(question.to_string().contains("send_letter"), "{question}");
        let mut answer = json!({"action": action});
        if action == "accept" {
            answer["content"] = json!({"approve": true});
        }
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
        let result = &asked(&mut to, &mut from, &answer.to_string())["result"];
        assert_eq!(result["isError"] == true, action == "decline", "{result}");
    }
    drop(to);
    assert!(child.wait().unwrap().success());
}

#[test]
fn tools_are_served_over_http_until_ctrl_c() {
    let serve = command(DESK, &["serve", "--http", "127.0.0.1:0"]);
    let mut session = spawn_command(serve, Some(60_000)).unwrap();
    let (_, address) = session.exp_regex(r"127\.0\.0\.1:\d+").unwrap();
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{BEGIN}",
        BEGIN.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains(r#""name":"desk""#), "{answer}");
    session.send_control('c').unwrap();
    session.exp_eof().unwrap();
    assert!(matches!(
        session.process().wait(),
        Ok(WaitStatus::Exited(_, 0))
    ));
}

// A running call finishes after SIGTERM, which containers and systemd send.
#[test]
fn running_call_finishes_after_sigterm() {
    let mut child = Command::new(DESK)
        .args(["serve", "--http", "127.0.0.1:0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = String::new();
    let mut notes = BufReader::new(child.stderr.take().unwrap());
    while !log.contains("http://") {
        notes.read_line(&mut log).unwrap();
    }
    let (_, rest) = log.split_once("http://").unwrap();
    let address = rest.split('/').next().unwrap().to_owned();
    let mut stream = TcpStream::connect(&address).unwrap();
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "count_pages", "arguments": {"pages": 100},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": 1,
        },
    }});
    let call = call.to_string();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: count_pages\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{call}",
        call.len()
    )
    .unwrap();
    // The first progress notification proves that the call is running.
    let mut answer = BufReader::new(stream);
    let mut heard = String::new();
    while !heard.contains("notifications/progress") {
        assert!(answer.read_line(&mut heard).unwrap() > 0, "{heard}");
    }
    let mut kill = Command::new("kill");
    let killed = kill.args(["-TERM", &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    answer.read_to_string(&mut heard).unwrap();
    assert!(heard.contains(r#""isError":false"#), "{heard}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn unusable_address_is_a_usage_error() {
    desk(&["serve", "--http", "nowhere"])
        .fails(2, &["`nowhere` cannot be served", "127.0.0.1:8080"]);
    desk(&["serve", "--host", "example.org"]).fails(2, &["--http"]);
}

#[test]
fn unusable_store_or_tokens_are_usage_errors() {
    let folder = tempfile::tempdir().unwrap();
    let tokens = folder.path().join("tokens.json");
    std::fs::write(
        &tokens,
        r#"[{"hash": "x", "subject": "olga", "role": "viewer"}]"#,
    )
    .unwrap();
    let (store, tokens) = (folder.path().join("state.db"), tokens.display().to_string());
    let store = store.display().to_string();
    let admin = [
        "serve",
        "--admin",
        "127.0.0.1:0",
        "--store",
        &store,
        "--admin-tokens",
        &tokens,
    ];
    desk(&admin).fails(2, &["tokens.json", "sha256:"]);
    desk(&["serve", "--store", "mysql://host/state"])
        .fails(2, &["mysql://", "sqlite:", "postgres://"]);
    let unknown = desk(&["serve", "--store", "mysql://eve:sesame@host/state"]);
    unknown.fails(2, &["`mysql://…@host/state` is not a store"]);
    assert!(!unknown.err.contains("sesame"));
    let closed = desk(&[
        "serve",
        "--store",
        "postgres://eve:sesame@127.0.0.1:1/state",
    ]);
    closed.fails(2, &["127.0.0.1:1"]);
    assert!(!closed.err.contains("sesame"));
    desk(&["serve", "--store", "/nowhere/state.db"]).fails(2, &["/nowhere/state.db"]);
    desk(&["serve", "--admin", "127.0.0.1:0"]).fails(2, &["--store"]);
    desk(&["serve", "--admin", "nowhere", "--store", &store])
        .fails(2, &["`nowhere` cannot be served"]);
}
