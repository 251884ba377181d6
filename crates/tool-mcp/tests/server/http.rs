//! MCP server over HTTP: both protocol versions at one endpoint, and its access checks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::web::{Web, modern};
use crate::support::{soon, until};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::json;
use tool_core::prelude::*;
use tool_core::{Gate, Rules};
use tool_mcp::{Auth, AuthError, HttpOptions, McpServer, Principal, TokenVerifier, Tools};

/// The sum of two numbers.
#[derive(Serialize, StrictSchema)]
struct Sum {
    /// The sum of both numbers.
    sum: u128,
    /// A description of the sum.
    about: String,
}

/// Adds two numbers.
#[tool(read_only)]
fn add(
    /// The first number.
    z: u64,
    /// The second number.
    a: u64,
) -> Sum {
    Sum {
        sum: u128::from(z) + u128::from(a) + (1 << 127),
        about: format!("{z} and {a}"),
    }
}

/// Returns the user of the call, and whether the call is in a session.
#[tool(read_only)]
fn whoami(cx: &ToolContext) -> String {
    format!("{:?} in {}", cx.user(), cx.session().is_some())
}

/// Yields numbers in steps.
#[tool(read_only)]
fn steps() -> ToolStream<String, u64> {
    tool_stream! {
        yield "one".to_owned();
        yield "two".to_owned();
        2
    }
}

static BEGUN: AtomicUsize = AtomicUsize::new(0);
static DROPPED: AtomicUsize = AtomicUsize::new(0);

struct Dropped;

impl Drop for Dropped {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Ordering::SeqCst);
    }
}

/// Waits until it is cancelled.
#[tool(read_only)]
async fn wait() -> Result<String, ToolError> {
    let _dropped = Dropped;
    BEGUN.fetch_add(1, Ordering::SeqCst);
    std::future::pending::<()>().await;
    Ok(String::new())
}

/// Waits for a short time.
#[tool(read_only)]
async fn moment() -> Result<String, ToolError> {
    BEGUN.fetch_add(1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(200)).await;
    Ok("done".to_owned())
}

#[expect(clippy::unwrap_used, reason = "a test fails here")]
fn registry() -> Registry {
    let registry = Registry::builder()
        .tool::<add>()
        .tool::<whoami>()
        .tool::<steps>();
    registry.tool::<wait>().tool::<moment>().build().unwrap()
}

fn server() -> McpServer {
    McpServer::builder(registry()).name("test").build()
}

const BIG: &str = r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"add","arguments":{"z":18446744073709551615,"a":1}}}"#;
const TWICE: &str = r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"add","arguments":{"z":1,"z":2,"a":1}}}"#;

#[tokio::test]
async fn one_endpoint_serves_both_protocol_versions() {
    let web = Web::of(&server(), HttpOptions::new()).await;
    let session = web.session(&[]).await;
    let headers = [
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let called = web.post(&headers, BIG).await;
    assert_eq!(called.status, 200);
    let expected = r#""structuredContent":{"sum":170141183460469231750134047789593657344,"about":"18446744073709551615 and 1"}"#;
    assert!(called.text.contains(expected), "{}", called.text);
    let twice = web.post(&headers, TWICE).await.json();
    assert_eq!(twice["result"]["isError"], true);
    let listed = web
        .post(
            &headers,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        )
        .await;
    assert!(
        listed.text.contains(r#""properties":{"z":{"#),
        "{}",
        listed.text
    );

    let listed = web.modern(&[], "tools/list", json!({})).await;
    assert_eq!(listed.status, 200);
    assert_eq!(listed.header("content-type"), "application/json");
    assert!(
        listed.text.contains(r#""properties":{"z":{"#),
        "{}",
        listed.text
    );
    let called = web
        .modern(
            &[],
            "tools/call",
            json!({ "name": "add", "arguments": { "z": 1, "a": 2 } }),
        )
        .await;
    assert!(
        called
            .text
            .contains(r#""sum":170141183460469231731687303715884105731,"#),
        "{}",
        called.text
    );
    let asked = json!({ "name": "steps", "_meta": { "progressToken": 5 } });
    let response = web.modern(&[], "tools/call", asked).await;
    let methods: Vec<_> = response
        .messages()
        .iter()
        .map(|message| message["method"].as_str().map(str::to_owned))
        .collect();
    let progress = || Some("notifications/progress".to_owned());
    assert_eq!(methods, [progress(), progress(), None]);
}

#[tokio::test]
async fn malformed_request_has_a_status_and_an_error_object() {
    let web = Web::of(&server(), HttpOptions::new().max_body(2000)).await;
    let session = web.session(&[]).await;
    let session = ("mcp-session-id", session.as_str());
    let long = format!("\"{}\"", "x".repeat(3000));
    let call =
        |params: &str| format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call"{params}}}"#);
    let cases = [
        ("{\"jsonrpc\"".to_owned(), 400, -32700),
        (String::new(), 400, -32700),
        ("[]".to_owned(), 400, -32600),
        (
            r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#.to_owned(),
            400,
            -32600,
        ),
        (call(""), 400, -32602),
        (call(r#","params":{}"#), 400, -32602),
        (
            call(r#","params":{"name":"add","arguments":[]}"#),
            400,
            -32602,
        ),
        (call(r#","params":{"name":"none"}"#), 200, -32602),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"x"}}"#.to_owned(),
            200,
            -32602,
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"no/such"}"#.to_owned(),
            200,
            -32601,
        ),
        (long, 413, -32600),
    ];
    for (body, status, code) in cases {
        let answer = web.post(&[session], &body).await;
        assert_eq!(
            (
                answer.status.as_u16(),
                answer.json()["error"]["code"].as_i64()
            ),
            (status, Some(code)),
            "{body}"
        );
    }
    let other = web
        .post(&[session, ("content-type", "text/plain")], BIG)
        .await;
    assert_eq!(
        (other.status.as_u16(), other.header("content-type")),
        (415, "application/json")
    );
    let nobody = web.post(&[("mcp-session-id", "7")], BIG).await;
    assert_eq!(
        (nobody.status.as_u16(), &nobody.json()["error"]["code"]),
        (404, &json!(-32600))
    );
    let without = web.post(&[], BIG).await;
    assert_eq!(
        (without.status.as_u16(), &without.json()["error"]["code"]),
        (400, &json!(-32600))
    );
}

#[tokio::test]
async fn foreign_hosts_are_refused_and_wildcard_accept_is_served() {
    let web = Web::of(&server(), HttpOptions::new()).await;
    for headers in [("host", "evil.example"), ("origin", "http://evil.example")] {
        let refused = web.post(&[headers], BIG).await;
        assert_eq!(refused.status, 403);
        assert_eq!(refused.json()["error"]["code"], -32600);
    }
    for headers in [
        ("accept", "*/*"),
        ("accept", "application/*, text/*;q=0.5"),
        ("origin", "http://localhost:5173"),
    ] {
        let session = web.session(&[headers]).await;
        assert_eq!(
            web.post(&[headers, ("mcp-session-id", &session)], BIG)
                .await
                .status,
            200
        );
    }
    let refused = web.post(&[("accept", "text/html")], BIG).await;
    assert_eq!(
        (refused.status.as_u16(), refused.header("content-type")),
        (406, "application/json")
    );
}

struct Known;

impl TokenVerifier for Known {
    fn verify<'a>(&'a self, token: &'a str) -> BoxFuture<'a, Result<Principal, AuthError>> {
        let for_us = "https://mcp.example.com/mcp";
        let found = match token {
            "alice" | "bob" => Ok(Principal::new(token).audience([for_us]).scopes(["call"])),
            "elsewhere" => Ok(Principal::new("alice")
                .audience(["https://other.example/"])
                .scopes(["call"])),
            "narrow" => Ok(Principal::new("alice").audience([for_us])),
            "later" => Err(AuthError::Unavailable),
            _ => Err(AuthError::InvalidToken),
        };
        async move { found }.boxed()
    }
}

#[tokio::test]
async fn token_identifies_the_user_and_protects_the_session() {
    let tools = registry();
    let ruled = Tools::ruled(tools, |cx| match cx.user() {
        Some("alice") => Rules::default(),
        _ => Rules::default().deny(["add"]),
    });
    let auth = Auth::new("https://mcp.example.com/mcp", Known)
        .issuer("https://login.example.com")
        .scope("call");
    let web = Web::of(
        &McpServer::builder(ruled).build(),
        HttpOptions::new().auth(auth),
    )
    .await;

    let metadata = web.get("/.well-known/oauth-protected-resource/mcp").await;
    assert_eq!(metadata.json()["resource"], "https://mcp.example.com/mcp");
    assert_eq!(
        metadata.json()["authorization_servers"],
        json!(["https://login.example.com"])
    );
    assert_eq!(
        web.get("/.well-known/oauth-protected-resource")
            .await
            .status,
        200
    );

    let address =
        r#"resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp""#;
    let nobody = web.post(&[], BIG).await;
    assert_eq!(nobody.status, 401);
    assert_eq!(
        nobody.header("www-authenticate"),
        format!(r#"Bearer scope="call", {address}"#)
    );
    for (token, status, error) in [
        ("Bearer mallory", 401, "invalid_token"),
        ("Bearer elsewhere", 401, "invalid_token"),
        ("Bearer narrow", 403, "insufficient_scope"),
        ("Basic YTpi", 400, "invalid_request"),
    ] {
        let refused = web.post(&[("authorization", token)], BIG).await;
        assert_eq!(refused.status, status, "{token}");
        let challenge = refused.header("www-authenticate");
        assert!(
            challenge.contains(&format!(r#"error="{error}""#)) && challenge.ends_with(address),
            "{challenge}"
        );
    }
    assert_eq!(
        web.post(&[("authorization", "Bearer later")], BIG)
            .await
            .status,
        503
    );

    let (alice, bob) = (
        ("authorization", "Bearer alice"),
        ("authorization", "Bearer bob"),
    );
    let session = web.session(&[alice]).await;
    let session = ("mcp-session-id", session.as_str());
    let who = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"whoami"}}"#;
    let answer = web.post(&[alice, session], who).await;
    assert_eq!(
        answer.json()["result"]["content"][0]["text"],
        r#"Some("alice") in true"#
    );
    assert_eq!(
        web.post(&[alice, session], BIG).await.json()["result"]["isError"],
        false
    );
    assert_eq!(web.post(&[bob, session], who).await.status, 404);
    let deleted = web.send("DELETE", "/mcp", &[bob, session], "").await;
    assert_eq!(deleted.status, 404);

    // Tools that are hidden from the user `bob` are unknown tools for him, in both protocol versions.
    let listed = web.modern(&[bob], "tools/list", json!({})).await;
    assert!(!listed.text.contains(r#""add""#), "{}", listed.text);
    let called = web
        .modern(
            &[bob],
            "tools/call",
            json!({ "name": "add", "arguments": { "z": 1, "a": 1 } }),
        )
        .await;
    assert_eq!(called.json()["error"]["code"], -32602);
}

#[tokio::test]
async fn abandoned_request_drops_its_tool() {
    let web = Web::of(&server(), HttpOptions::new()).await;
    let (begun, dropped) = (BEGUN.load(Ordering::SeqCst), DROPPED.load(Ordering::SeqCst));
    let (_, body) = modern("tools/call", json!({ "name": "wait" }));
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "wait"),
    ];
    let sent = web.post(&headers, &body);
    tokio::select! {
        _ = sent => unreachable!("the call ended before its client disconnected"),
        () = until(|| BEGUN.load(Ordering::SeqCst) > begun) => {}
    }
    until(|| DROPPED.load(Ordering::SeqCst) > dropped).await;
}

#[tokio::test]
async fn shutdown_finishes_running_calls_and_accepts_no_new_ones() {
    let gate = Gate::builder().build();
    let server = McpServer::builder(registry()).gate(&gate).build();
    let mut web = Web::of(
        &server,
        HttpOptions::new().patience(Duration::from_secs(10)),
    )
    .await;
    assert_eq!(web.get("/healthz").await.text, "ok");
    assert_eq!(web.get("/readyz").await.status, 200);
    let session = web.session(&[]).await;
    let begun = BEGUN.load(Ordering::SeqCst);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"moment"}}"#;
    let headers = [("mcp-session-id", session.as_str())];
    let running = web.begin("POST", "/mcp", &headers, call).await;
    until(|| BEGUN.load(Ordering::SeqCst) > begun).await;
    web.stop();
    until(|| gate.is_draining()).await;
    assert_eq!(web.get("/readyz").await.status, 503);
    assert_eq!(web.get("/healthz").await.status, 200);
    let refused = web.post(&headers, call).await;
    assert_eq!(
        (refused.status.as_u16(), refused.header("retry-after")),
        (503, "5")
    );
    let body = soon(http_body_util::BodyExt::collect(running.into_body()))
        .await
        .unwrap()
        .to_bytes();
    assert!(String::from_utf8_lossy(&body).contains(r#""text":"done""#));
    web.stopped().await;
}

// Idle streams that only wait for notifications do not keep a server from stopping.
#[tokio::test]
async fn shutdown_ends_idle_streams() {
    let mut web = Web::of(&server(), HttpOptions::new()).await;
    let session = web.session(&[]).await;
    let headers = [("mcp-session-id", session.as_str())];
    let stream = web.begin("GET", "/mcp", &headers, "").await;
    assert_eq!(stream.status(), 200);
    web.stop();
    web.stopped().await;
    let rest = http_body_util::BodyExt::collect(stream.into_body()).await;
    assert!(rest.is_ok(), "the stream ends without an error");
}

// Pages of an allowed origin get CORS headers for preflight requests and responses. Other pages get no `access-control-allow-origin`, and clients
// that are not web pages get no CORS headers.
#[tokio::test]
async fn allowed_origins_get_cors_headers() {
    const PAGE: (&str, &str) = ("origin", "https://app.example.com");
    let auth = Auth::new("https://mcp.example.com/mcp", Known).scope("call");
    let options = HttpOptions::new().origin(PAGE.1).auth(auth);
    let web = Web::of(&server(), options).await;
    for (path, method) in [
        ("/mcp", "POST"),
        ("/mcp", "DELETE"),
        ("/.well-known/oauth-protected-resource/mcp", "GET"),
    ] {
        let asked = [
            PAGE,
            ("access-control-request-method", method),
            (
                "access-control-request-headers",
                "authorization,content-type,mcp-param-city",
            ),
        ];
        let preflight = web.send("OPTIONS", path, &asked, "").await;
        assert_eq!(preflight.status, 200, "{path}");
        assert_eq!(preflight.header("access-control-allow-origin"), PAGE.1);
        assert!(
            preflight
                .header("access-control-allow-methods")
                .contains(method)
        );
        let allowed = preflight.header("access-control-allow-headers");
        assert!(
            allowed.contains("authorization") && allowed.contains("mcp-param-city"),
            "{allowed}"
        );
        assert_eq!(preflight.header("access-control-allow-credentials"), "");
    }
    // Pages can also read refusals, which contain the address at which they get a token.
    let refused = web.post(&[PAGE], BIG).await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("access-control-allow-origin"), PAGE.1);
    let exposed = refused.header("access-control-expose-headers");
    assert!(
        exposed.contains("www-authenticate") && exposed.contains("mcp-session-id"),
        "{exposed}"
    );
    let called = web
        .post(
            &[PAGE, ("authorization", "Bearer alice")],
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        )
        .await;
    assert_eq!(called.header("access-control-allow-origin"), PAGE.1);
    // Clients that are not web pages get no CORS headers.
    let called = web.post(&[("authorization", "Bearer alice")], BIG).await;
    let cors = called
        .headers
        .keys()
        .filter(|name| name.as_str().starts_with("access-control"));
    assert_eq!(cors.count(), 0, "{called:?}");
    // A page of a different origin gets no `access-control-allow-origin`, not even for its preflight request.
    let other = ("origin", "https://evil.example");
    for (method, status) in [("OPTIONS", 200), ("POST", 403)] {
        let asked = [other, ("access-control-request-method", "POST")];
        let answer = web.send(method, "/mcp", &asked, BIG).await;
        assert_eq!(answer.status, status, "{method}");
        assert_eq!(answer.header("access-control-allow-origin"), "", "{method}");
    }
}

// The number of sessions is limited, and idle sessions end.
#[tokio::test]
async fn sessions_are_limited_and_end_when_they_are_idle() {
    let options = HttpOptions::new()
        .most_sessions(2)
        .session_timeout(Duration::from_secs(2));
    let web = Web::of(&server(), options).await;
    let (first, _second) = (web.session(&[]).await, web.session(&[]).await);
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let third = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let refused = web.post(&[], &third.to_string()).await;
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), "30");
    let error = refused.json()["error"]["message"].to_string();
    assert!(error.contains("too many sessions"), "{error}");
    // The 2026-07-28 protocol has no sessions.
    assert_eq!(web.modern(&[], "tools/list", json!({})).await.status, 200);
    // A new session can begin after a client has ended its session, and after an idle session has ended.
    let ended = web
        .send("DELETE", "/mcp", &[("mcp-session-id", &first)], "")
        .await;
    assert!(ended.status.is_success(), "{ended:?}");
    web.session(&[]).await;
    let began = std::time::Instant::now();
    while web.post(&[], &third.to_string()).await.status == 503 {
        assert!(began.elapsed() < Duration::from_mins(1));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

// After the entries of many ended sessions were removed, an ended session is not found and a new session works.
#[tokio::test]
async fn ended_session_is_not_found_and_a_new_session_works() {
    let web = Web::of(&server(), HttpOptions::new()).await;
    let mut last = String::new();
    // This is more than the number of sessions that are recorded before ended sessions are removed.
    for _ in 0..200 {
        last = web.session(&[]).await;
        let ended = web
            .send("DELETE", "/mcp", &[("mcp-session-id", &last)], "")
            .await;
        assert!(ended.status.is_success(), "{ended:?}");
    }
    let gone = web.post(&[("mcp-session-id", &last)], BIG).await;
    assert_eq!(gone.status, 404);
    let open = web.session(&[]).await;
    assert_eq!(
        web.post(&[("mcp-session-id", &open)], BIG).await.status,
        200
    );
}
