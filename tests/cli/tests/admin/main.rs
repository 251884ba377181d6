//! The admin API of `serve --admin` on each kind of store.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, ExitCode, Stdio};

use serde_json::json;
use test_support::Ran;
#[cfg(unix)]
use test_support::postgres;

/// The program with the tools of the tests.
const DESK: &str = env!("CARGO_BIN_EXE_desk");

/// Sends a request to a server over HTTP and returns the response.
fn http(address: &str, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "{head}\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Ends a server when the test ends.
struct Ends(Child);

impl Drop for Ends {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves the tools with the admin API of a store. The audit has each call over MCP, and a kill switch refuses the next one.
fn admin_api_reads_and_stops_the_calls_of_the_server(store: &str) {
    let words = [
        "serve",
        "--http",
        "127.0.0.1:0",
        "--admin",
        "127.0.0.1:0",
        "--store",
    ];
    let mut child = Command::new(DESK)
        .args(words)
        .arg(store)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut notes = BufReader::new(child.stderr.take().unwrap());
    let _ends = Ends(child);
    let mut said = String::new();
    while !said.contains("/mcp") {
        assert!(notes.read_line(&mut said).unwrap() > 0, "{said}");
    }
    let address = |suffix: &str| {
        let (before, _) = said.split_once(suffix).unwrap();
        before.rsplit("http://").next().unwrap().to_owned()
    };
    let (mcp, admin) = (address("/mcp"), address("/openapi.json"));
    let hex = |line: &&str| line.len() == 64 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
    let token = said.lines().find(hex).unwrap();
    let ask = |method: &str, path: &str, body: &str| {
        let head = format!("{method} {path} HTTP/1.1\r\nAuthorization: Bearer {token}");
        http(&admin, &head, body)
    };
    let call = || {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "file_note", "arguments": {"title": "a", "place": {"shelf": "s"}},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }});
        let head = "POST /mcp HTTP/1.1\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: file_note";
        http(&mcp, head, &call.to_string())
    };
    let tools = ask("GET", "/v1/tools", "");
    assert!(
        tools.starts_with("HTTP/1.1 200") && tools.contains("\"file_note\""),
        "{tools}"
    );
    let filed = call();
    assert!(filed.contains(r#""isError":false"#), "{filed}");
    let audit = ask("GET", "/v1/audit?tool=file_note", "");
    assert!(audit.contains(r#""outcome":"ok""#), "{audit}");
    let killed = ask("PUT", "/v1/switches/kill/file_note", r#"{"on":true}"#);
    assert!(killed.starts_with("HTTP/1.1 200"), "{killed}");
    std::thread::sleep(std::time::Duration::from_secs(1));
    let refused = call();
    assert!(!refused.contains(r#""isError":false"#), "{refused}");
    let revived = ask("PUT", "/v1/switches/kill/file_note", r#"{"on":false}"#);
    assert!(revived.starts_with("HTTP/1.1 200"), "{revived}");
    let without = http(&admin, "GET /v1/tools HTTP/1.1", "");
    assert!(without.starts_with("HTTP/1.1 401"), "{without}");
}

fn admin_api_on_sqlite_case() -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("state.db");
    admin_api_reads_and_stops_the_calls_of_the_server(&store.display().to_string());
    Ok(())
}

#[cfg(unix)]
fn admin_api_on_postgresql_case() -> Ran {
    let server = postgres::server()?;
    // A second start finds the schema of the first.
    for _ in 0..2 {
        admin_api_reads_and_stops_the_calls_of_the_server(&server.url("postgres"));
    }
    Ok(())
}

fn main() -> ExitCode {
    let suite = test_support::suite![admin_api_on_sqlite_case];
    #[cfg(unix)]
    let suite = suite.case("admin_api_on_postgresql_case", admin_api_on_postgresql_case);
    suite.run()
}
