//! The admin API of `serve --admin` and the commands for operators, on each kind of store.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

#[cfg(unix)]
mod memories;
mod operate;
mod plan;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, ExitCode, Stdio};

use serde_json::{Value, json};
use test_support::{Ran, Suite};

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
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A running `serve` with the admin API.
struct Served {
    _ends: KillOnDrop,
    /// The standard error of the program, kept open because the program writes to it.
    _notes: BufReader<ChildStderr>,
    /// The address of the MCP server.
    mcp: String,
    /// The address of the admin API.
    admin: String,
    token: String,
}

impl Served {
    /// Starts a server on a store.
    fn start(store: &str, more: &[&str]) -> Self {
        Self::with_keys(store, more, None)
    }

    /// Starts a server on a store with the keys of a vault.
    fn with_keys(store: &str, more: &[&str], keys: Option<&str>) -> Self {
        let mut command = Command::new(DESK);
        match keys {
            Some(keys) => command.env("TOOL_SEAL_KEYS", keys),
            None => command.env_remove("TOOL_SEAL_KEYS"),
        };
        let mut child = command
            .args(["serve", "--http", "127.0.0.1:0", "--admin", "127.0.0.1:0"])
            .args(more)
            .arg("--store")
            .arg(store)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut notes = BufReader::new(child.stderr.take().unwrap());
        let ends = KillOnDrop(child);
        let mut output = String::new();
        while !output.contains("/mcp") {
            assert!(notes.read_line(&mut output).unwrap() > 0, "{output}");
        }
        let address = |suffix: &str| {
            let (before, _) = output.split_once(suffix).unwrap();
            before.rsplit("http://").next().unwrap().to_owned()
        };
        let hex =
            |line: &&str| line.len() == 64 && line.bytes().all(|byte| byte.is_ascii_hexdigit());
        Self {
            mcp: address("/mcp"),
            admin: address("/openapi.json"),
            token: output.lines().find(hex).unwrap().to_owned(),
            _ends: ends,
            _notes: notes,
        }
    }

    /// Sends a request to the admin API.
    fn ask(&self, method: &str, path: &str, body: &str) -> String {
        let token = &self.token;
        let head = format!("{method} {path} HTTP/1.1\r\nAuthorization: Bearer {token}");
        http(&self.admin, &head, body)
    }

    /// Calls a tool over MCP.
    fn call(&self, name: &str, arguments: &Value) -> String {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": name, "arguments": arguments,
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        }});
        let head = format!(
            "POST /mcp HTTP/1.1\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}"
        );
        http(&self.mcp, &head, &call.to_string())
    }
}

/// The admin API lists the tools. The audit contains a call over MCP, a kill switch refuses the tool's calls after at most a second, and a request
/// without a token is refused.
fn admin_api_reads_and_stops_the_calls_of_the_server(store: &str) {
    let served = Served::start(store, &[]);
    let ask = |method: &str, path: &str, body: &str| served.ask(method, path, body);
    let call = || served.call("file_note", &json!({"title": "a", "place": {"shelf": "s"}}));
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
    let without = http(&served.admin, "GET /v1/tools HTTP/1.1", "");
    assert!(without.starts_with("HTTP/1.1 401"), "{without}");
}

/// Returns the JSON body of a response.
fn body(answer: &str) -> Value {
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body.trim()).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// S3-16, S3-23: with `serve --agent`, an operator creates a tool over the admin API, and clients can call it over MCP until it is disabled or
/// deleted.
fn tool_of_an_operator_is_served_until_it_is_disabled_or_deleted(store: &str) {
    let served = Served::start(store, &["--agent", "clerk", "--workspace", "acme"]);
    let ask = |method: &str, path: &str, body: &Value| {
        let text = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        self::body(&served.ask(method, path, &text))
    };
    let id = |value: &Value| value["id"].as_str().unwrap().to_owned();

    let new = json!({"name": "notes", "kind": {"type": "linked", "tool": "print_note"}});
    let function = id(&ask("POST", "/v1/functions", &new));
    let input = json!({
        "type": "object", "properties": {"format": {"type": "string"}}, "required": ["format"], "additionalProperties": false,
    });
    let version = json!({"input_schema": input, "output_schema": {"type": "string"}});
    let version = id(&ask(
        "POST",
        &format!("/v1/functions/{function}/versions"),
        &version,
    ));
    ask(
        "POST",
        &format!("/v1/function-versions/{version}/publish"),
        &Value::Null,
    );
    let tool = json!({"name": "remember", "description": "Files a note.", "target": "server", "function": function});
    let tool = id(&ask("POST", "/v1/stored-tools", &tool)["tool"]);
    let path = format!("/v1/stored-tools/{tool}");
    ask(
        "PUT",
        &format!("/v1/agents/clerk/tools/{tool}"),
        &Value::Null,
    );

    let call = || served.call("remember", &json!({"format": "a4"}));
    let until = |found: bool| {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
        loop {
            let answer = call();
            if answer.contains(r#""isError":false"#) == found {
                return answer;
            }
            assert!(std::time::Instant::now() < end, "{answer}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    };
    let printed = until(true);
    assert!(printed.contains("printed as a4"), "{printed}");
    // Calls of a disabled tool are refused immediately.
    ask(
        "PUT",
        &format!("{path}/enabled"),
        &json!({"enabled": false}),
    );
    let muted = call();
    assert!(!muted.contains(r#""isError":false"#), "{muted}");
    ask("PUT", &format!("{path}/enabled"), &json!({"enabled": true}));
    until(true);
    ask("DELETE", &path, &Value::Null);
    let deleted = call();
    assert!(!deleted.contains(r#""isError":false"#), "{deleted}");
    let audit = ask("GET", "/v1/audit?tool=remember", &Value::Null);
    assert!(audit.to_string().contains("stored_tool.delete"), "{audit}");
}

/// S4-13, S1-37: with `TOOL_SEAL_KEYS`, an operator writes a secret over the admin API. Until then, the tool that requires the secret is
/// misconfigured. Afterwards, the calls of the server use the secret within seconds. Without keys, a new secret is refused, and a store that has
/// secrets is served without a vault.
fn secret_of_an_operator_is_used_by_the_calls_of_the_server_case(store: &str) {
    let more = ["--workspace", "vault", "--variable", "STREET=main"];
    let secret = "/v1/secrets/box_key";
    let value = r#"{"value":"sesame-sesame"}"#;
    let served = Served::with_keys(store, &more, Some(operate::KEYS));
    let status = || served.ask("GET", "/v1/tool-status?status=misconfigured", "");
    let missing = r#""missing":["box_key"]"#;
    assert!(status().contains(missing), "{}", status());
    let written = served.ask("PUT", secret, value);
    assert!(written.starts_with("HTTP/1.1 200"), "{written}");
    assert!(!written.contains("sesame"), "{written}");
    assert!(!status().contains(missing), "{}", status());
    let end = std::time::Instant::now() + std::time::Duration::from_secs(10);
    loop {
        let answer = served.call("fetch_post", &json!({}));
        if answer.contains(r#""isError":false"#) {
            assert!(!answer.contains("sesame"), "{answer}");
            break;
        }
        assert!(std::time::Instant::now() < end, "{answer}");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    drop(served);
    // A server without the keys refuses a new value, but lists and removes secrets.
    let locked = Served::start(store, &more);
    let refused = locked.ask("PUT", secret, value);
    assert!(refused.starts_with("HTTP/1.1 404"), "{refused}");
    let listed = locked.ask("GET", "/v1/secrets", "");
    assert!(listed.contains("box_key"), "{listed}");
    let removed = locked.ask("DELETE", secret, "");
    assert!(removed.starts_with("HTTP/1.1 200"), "{removed}");
    drop(locked);
    let keyless = Served::start(store, &more);
    let refused = keyless.ask("PUT", secret, value);
    assert!(
        refused.starts_with("HTTP/1.1 409") && refused.contains("TOOL_SEAL_KEYS"),
        "{refused}"
    );
}

/// The requests of an operator who creates functions.
struct Operator<'s>(&'s Served);

impl Operator<'_> {
    fn send(&self, method: &str, path: &str, body: &Value) -> String {
        self.0.ask(method, path, &body.to_string())
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        self::body(&self.send(method, path, body))
    }

    /// Returns the id in the JSON of a created row.
    fn id(value: &Value) -> String {
        value["id"].as_str().unwrap().to_owned()
    }

    fn function(&self, kind: &Value) -> String {
        let new = json!({"name": "f", "kind": kind});
        Self::id(&self.ask("POST", "/v1/functions", &new))
    }

    fn version(&self, function: &str, version: &Value) -> String {
        let path = format!("/v1/functions/{function}/versions");
        self.send("POST", &path, version)
    }

    /// Asserts that a version is refused with an error that contains this text.
    fn refused(&self, function: &str, version: &Value, part: &str) {
        let answer = self.version(function, version);
        assert!(answer.starts_with("HTTP/1.1 422"), "{answer}");
        assert!(answer.contains(part), "{answer}");
    }

    /// Creates and publishes a version, and binds a new tool that runs it to the agent `clerk`.
    fn offer(&self, name: &str, function: &str, version: &Value) {
        let version = Self::id(&self::body(&self.version(function, version)));
        let publish = format!("/v1/function-versions/{version}/publish");
        self.ask("POST", &publish, &json!({}));
        let tool = json!({"name": name, "description": "Does it.", "target": "server", "function": function});
        let tool = Self::id(&self.ask("POST", "/v1/stored-tools", &tool)["tool"]);
        let bind = format!("/v1/agents/clerk/tools/{tool}");
        self.ask("PUT", &bind, &json!({}));
    }

    /// Calls a tool until the response contains this text.
    fn until(&self, name: &str, arguments: &Value, part: &str) {
        let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
        loop {
            let answer = self.0.call(name, arguments);
            if answer.contains(part) {
                return;
            }
            assert!(std::time::Instant::now() < end, "{answer}");
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

/// Returns the schema of an object with one required property, a text.
fn object(key: &str) -> Value {
    json!({"type": "object", "properties": {key: {"type": "string"}}, "required": [key], "additionalProperties": false})
}

/// S3-34: with `serve --typescript`, `--mcp-server` and a runner of the program, an operator creates TypeScript, MCP and HTTP tools over the admin
/// API. A TypeScript version with a syntax error, and an MCP version whose input schema does not match the server's tool, are refused.
fn functions_of_each_kind_are_created_and_served(store: &str) {
    let notes = format!("notes={DESK} serve");
    let agent = ["--agent", "clerk", "--workspace", "acme"];
    let kinds = ["--typescript", "--mcp-server", &notes];
    let served = Served::start(store, &[&agent[..], &kinds[..]].concat());
    let olga = Operator(&served);
    let input = object("format");

    let code = olga.function(&json!({"type": "type_script", "entry": "main.ts"}));
    let of = |source: &str| {
        json!({
            "files": {"main.ts": source}, "uses": ["print_note"],
            "input_schema": input, "output_schema": {"type": "string"},
        })
    };
    let faulty = of("export default (args) => {\n  return args.;\n};");
    olga.refused(&code, &faulty, "main.ts, line 2, column 15");
    let twice = of(
        "export default async ({ format }: { format: string }) => `${await tools.print_note({ format })} twice`;",
    );
    olga.offer("print_twice", &code, &twice);
    olga.until(
        "print_twice",
        &json!({"format": "a4"}),
        "printed as a4 twice",
    );

    let remote = olga.function(&json!({"type": "mcp", "server": "notes", "tool": "print_note"}));
    let of = |input: &Value| json!({"input_schema": input, "output_schema": {}});
    olga.refused(&remote, &of(&object("size")), "/input_schema");
    olga.offer("print_there", &remote, &of(&input));
    let effects = json!({"effects": {"read_only": true, "destructive": false, "idempotent": true, "open_world": false}});
    olga.ask("PATCH", &format!("/v1/functions/{remote}"), &effects);
    olga.until("print_there", &json!({"format": "a5"}), "printed as a5");

    // The program registers its own runner for this document.
    let http = json!({"type": "http", "document": "parcels.json", "operation": "print"});
    let http = olga.function(&http);
    let version =
        json!({"files": {"parcels.json": "{}"}, "input_schema": input, "output_schema": {}});
    olga.offer("print_far", &http, &version);
    olga.until("print_far", &json!({"format": "a6"}), "sent to print");
}

/// S3-34: a stored tool whose function requires a secret is hidden until an operator stores the secret.
fn stored_tool_gets_the_secret_of_its_function(store: &str) {
    let more = ["--agent", "clerk", "--workspace", "acme"];
    let served = Served::with_keys(store, &more, Some(operate::KEYS));
    let olga = Operator(&served);
    let kind = json!({"type": "http", "document": "parcels.json", "operation": "insure"});
    let function = olga.function(&kind);
    let version = json!({"files": {"parcels.json": "{}"}, "input_schema": object("format"), "output_schema": {}});
    // The second run on a database finds the secret of the first.
    let secret = "/v1/secrets/parcels.example.com%2Fkey";
    olga.send("DELETE", secret, &json!({}));
    olga.offer("insure_parcel", &function, &version);
    let arguments = json!({"format": "a4"});
    olga.until(
        "insure_parcel",
        &arguments,
        "there is no tool `insure_parcel`",
    );
    olga.ask("PUT", secret, &json!({"value": "sesame-sesame"}));
    olga.until("insure_parcel", &arguments, "sent to insure");
}

/// S0-20, M14: with `serve --policy`, the policy of the file decides about the calls, and an operator of the host replaces it over the admin API. If
/// the file has an error, the server does not start.
fn policy_of_a_file_decides_and_is_replaced(store: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("policy.json");
    std::fs::write(
        &path,
        r#"{"tools": {"deny": ["file_note", "no_such_tool"]}}"#,
    )
    .unwrap();
    let path = path.display().to_string();
    let served = Served::start(store, &["--policy", &path]);
    let call = || served.call("file_note", &json!({"title": "a", "place": {"shelf": "s"}}));
    assert!(!call().contains(r#""isError":false"#), "{}", call());
    let current = served.ask("GET", "/v1/policy", "");
    let tag = current
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .unwrap();
    assert!(current.contains("no_such_tool"), "{current}");
    let token = &served.token;
    let head =
        format!("PUT /v1/policy HTTP/1.1\r\nAuthorization: Bearer {token}\r\nIf-Match: {tag}");
    let replaced = http(&served.admin, &head, "{}");
    assert!(replaced.starts_with("HTTP/1.1 200"), "{replaced}");
    let called = call();
    assert!(called.contains(r#""isError":false"#), "{called}");
    drop(served);

    std::fs::write(&path, r#"{"tools": {"denied": []}}"#).unwrap();
    let refused = Command::new(DESK)
        .args([
            "serve",
            "--http",
            "127.0.0.1:0",
            "--store",
            store,
            "--policy",
            &path,
        ])
        .output()
        .unwrap();
    let text = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{text}");
    assert!(
        text.contains("cannot be used") && text.contains("denied"),
        "{text}"
    );
}

/// Runs a test on a store. On PostgreSQL, the test runs twice on one database: the second start finds the schema and the rows of the first.
fn on(store: Store, test: fn(&str)) -> Ran {
    match store {
        Store::Sqlite => {
            let folder = tempfile::tempdir().unwrap();
            test(&folder.path().join("state.db").display().to_string());
        }
        #[cfg(unix)]
        Store::Postgres => {
            let server = test_support::postgres::server()?;
            for _ in 0..2 {
                test(&server.url("postgres"));
            }
        }
        #[cfg(not(unix))]
        Store::Postgres => {
            return Err(test_support::Missing::new(
                "a PostgreSQL server is started only on Unix",
            ));
        }
    }
    Ok(())
}

/// Runs a test on a store that no other test uses. On PostgreSQL, the test runs twice on one new database.
fn on_new(store: Store, test: fn(&str)) -> Ran {
    match store {
        Store::Sqlite => on(store, test),
        #[cfg(unix)]
        Store::Postgres => {
            let runtime = tokio::runtime::Runtime::new().unwrap();
            let url = runtime.block_on(test_support::postgres::database())?;
            for _ in 0..2 {
                test(&url);
            }
            Ok(())
        }
        #[cfg(not(unix))]
        Store::Postgres => on(store, test),
    }
}

#[derive(Clone, Copy)]
enum Store {
    Sqlite,
    Postgres,
}

fn main() -> ExitCode {
    let mut suite = Suite::new(env!("CARGO_CRATE_NAME")).case("wrong_targets_are_refused", || {
        operate::wrong_targets_are_refused();
        Ok(())
    });
    #[cfg(unix)]
    {
        suite = suite
            .case(
                "memories_are_indexed_with_pgvector",
                memories::index_is_created_with_pgvector,
            )
            .case(
                "missing_pgvector_is_reported",
                memories::missing_pgvector_is_reported,
            )
            .case("memories_are_indexed_only_in_postgresql", || {
                memories::other_targets_are_refused();
                Ok(())
            });
    }
    for (name, store) in [("sqlite", Store::Sqlite), ("postgres", Store::Postgres)] {
        suite = suite
            .case(&format!("calls_are_read_and_stopped::{name}"), move || {
                on(store, admin_api_reads_and_stops_the_calls_of_the_server)
            })
            .case(&format!("functions_of_each_kind::{name}"), move || {
                on(store, functions_of_each_kind_are_created_and_served)
            })
            .case(&format!("secret_of_a_function::{name}"), move || {
                on_new(store, stored_tool_gets_the_secret_of_its_function)
            })
            .case(&format!("policy_of_a_file::{name}"), move || {
                on_new(store, policy_of_a_file_decides_and_is_replaced)
            })
            .case(&format!("operators_secret_is_used::{name}"), move || {
                on(
                    store,
                    secret_of_an_operator_is_used_by_the_calls_of_the_server_case,
                )
            })
            .case(&format!("operators_tool_is_served::{name}"), move || {
                on(
                    store,
                    tool_of_an_operator_is_served_until_it_is_disabled_or_deleted,
                )
            })
            .case(&format!("commands_work_on_a_store::{name}"), move || {
                on_new(store, operate::on_a_store)
            })
            .case(&format!("plans_are_printed::{name}"), move || {
                on_new(store, plan::runs_are_printed)
            })
            .case(&format!("sealed_contents_are_read::{name}"), move || {
                on_new(store, operate::on_a_store_with_sealed_contents)
            })
            .case(
                &format!("commands_work_on_an_admin_api::{name}"),
                move || on_new(store, operate::on_an_admin_api),
            );
    }
    suite.run()
}
