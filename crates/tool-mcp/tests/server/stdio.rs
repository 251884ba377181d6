//! MCP server over stdio, with one message per line: both protocol versions, and malformed messages of clients.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::support::{Client, until};
use serde_json::json;
use tool_core::prelude::*;
use tool_mcp::McpServer;

/// The result of an addition.
#[derive(Serialize, StrictSchema)]
struct Sum {
    /// The sum of both numbers.
    sum: u128,
    /// A description of the sum.
    about: String,
}

/// Adds two numbers.
#[tool(read_only, title = "Add", category = "sums", tags("small"))]
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

/// Counts the letters of a word.
#[tool(read_only)]
fn count(
    /// The word to count.
    word: String,
) -> u64 {
    word.chars().count() as u64
}

/// Returns the same greeting for every call.
#[tool(read_only)]
fn hello() -> String {
    "hello".to_owned()
}

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
    std::future::pending::<()>().await;
    Ok(String::new())
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

/// Fails with an error on every call.
#[tool(read_only)]
fn fail() -> Result<String, ToolError> {
    Err(ToolError::new("the index is being rebuilt"))
}

#[expect(clippy::unwrap_used, reason = "a test fails here")]
fn server() -> McpServer {
    let registry = Registry::builder()
        .tool::<add>()
        .tool::<count>()
        .tool::<hello>()
        .tool::<wait>()
        .tool::<steps>()
        .tool::<fail>()
        .build()
        .unwrap();
    McpServer::builder(registry)
        .name("test")
        .version("1.2.3")
        .instructions("add things")
        .build()
}

#[tokio::test]
async fn both_protocols_list_and_call_the_same_definition() {
    let server = server();
    for modern in [false, true] {
        let mut client = Client::of(&server, modern).await;
        let listed = client.ask("tools/list", json!({})).await;
        let tools = listed["result"]["tools"].as_array().unwrap();
        let names: Vec<_> = tools
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["add", "count", "fail", "hello", "steps", "wait"]);
        let add = &tools[0];
        assert_eq!(add["title"], "Add");
        assert_eq!(add["description"], "Adds two numbers.");
        assert_eq!(add["inputSchema"]["type"], "object");
        assert_eq!(add["inputSchema"]["additionalProperties"], false);
        assert_eq!(add["annotations"]["readOnlyHint"], true);
        assert_eq!(add["outputSchema"]["properties"]["sum"]["type"], "integer");
        assert_eq!(
            add["_meta"],
            json!({ "tool-core/category": "sums", "tool-core/tags": ["small"] })
        );
        // The legacy protocol requires an object; the 2026-07-28 protocol accepts any output.
        let of_count = &tools[1]["outputSchema"];
        assert_eq!(of_count["type"], if modern { "integer" } else { "object" });

        let called = client.call("count", json!({ "word": "four" })).await;
        let result = &called["result"];
        assert_eq!(result["content"], json!([{ "type": "text", "text": "4" }]));
        let expected = if modern {
            json!(4)
        } else {
            json!({ "result": 4 })
        };
        assert_eq!(result["structuredContent"], expected);
        assert_eq!(result["isError"], false);
        assert_eq!(result["resultType"].as_str(), modern.then_some("complete"));

        let without = client.ask("tools/call", json!({ "name": "hello" })).await;
        assert_eq!(without["result"]["content"][0]["text"], "hello");
    }
}

/// Adds a list of numbers.
#[tool(read_only)]
fn total(
    /// The numbers to add.
    values: Vec<u32>,
) -> u32 {
    values.iter().sum()
}

// A host can turn off the repair of arguments for a server.
#[tokio::test]
async fn server_setting_disables_repairs() {
    let server = |mode: Option<Repair>| {
        let tools = Registry::builder().tool::<total>().build().unwrap();
        let server = McpServer::builder(tools);
        match mode {
            Some(mode) => server.repair(mode).build(),
            None => server.build(),
        }
    };
    // Without a setting of the server, the setting of the toolset applies.
    let off = Registry::builder().tool::<total>().build().unwrap();
    let off = || off.open().repair(Repair::Off);
    for (server, repairs) in [
        (server(None), true),
        (server(Some(Repair::Safe)), true),
        (server(Some(Repair::Off)), false),
        (McpServer::builder(off()).build(), false),
        (McpServer::builder(off()).repair(Repair::Safe).build(), true),
    ] {
        for (values, sum) in [(json!(7), "7"), (json!(["7", 1]), "8")] {
            let mut client = Client::modern(&server);
            let called = client.call("total", json!({ "values": values })).await;
            let result = &called["result"];
            assert_eq!(result["isError"] == false, repairs, "{result}");
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(text == sum, repairs, "{text}");
        }
        let mut client = Client::modern(&server);
        let called = client.call("total", json!({"values": [7]})).await;
        assert_eq!(called["result"]["content"][0]["text"], "7");
    }
}

#[tokio::test]
async fn order_of_keys_and_digits_of_numbers_are_kept() {
    let mut client = Client::legacy(&server()).await;
    client
        .send_text(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#)
        .await;
    let listed = client.line().await;
    let (z, a) = (
        listed.find(r#""z":{"#).unwrap(),
        listed.find(r#""a":{"#).unwrap(),
    );
    assert!(z < a, "{listed}");
    client
        .send_text(r#"{"jsonrpc":"2.0","id":8,"method":"tools/call","params":{"name":"add","arguments":{"z":18446744073709551615,"a":1}}}"#)
        .await;
    let called = client.line().await;
    assert!(
        called.contains(r#""structuredContent":{"sum":170141183460469231750134047789593657344,"about":"18446744073709551615 and 1"}"#),
        "{called}"
    );
}

#[tokio::test]
async fn invalid_arguments_are_reported_to_the_model() {
    let mut client = Client::legacy(&server()).await;
    client
        .send_text(r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"add","arguments":{"z":1,"z":2,"a":"x","b":0}}}"#)
        .await;
    let answer = client.next().await;
    let result = &answer["result"];
    assert_eq!(result["isError"], true);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(
        text.contains("`/z`") && text.contains("`/a`") && text.contains("`/b`"),
        "{text}"
    );
    assert_eq!(result["_meta"]["tool-core/error"], "invalid_arguments");
    assert_eq!(result["_meta"]["tool-core/issues"][0]["pointer"], "/z");

    let failed = client.call("fail", json!({})).await;
    assert_eq!(
        failed["result"]["content"][0]["text"],
        "the index is being rebuilt"
    );
    assert_eq!(failed["result"]["isError"], true);
    let unknown = client.call("ad", json!({})).await;
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(
        unknown["error"]["message"]
            .as_str()
            .unwrap()
            .contains("`add`"),
        "{unknown}"
    );
}

#[tokio::test]
async fn malformed_line_is_answered_and_the_session_continues() {
    let mut client = Client::legacy(&server()).await;
    let cases = [
        ("{\"jsonrpc\":\"2.0\",\"id\":1,", -32700),
        ("[]", -32600),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"add","arguments":[]}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":5,"method":"tools/call"}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":5,"method":"no/such"}"#, -32601),
        (
            r#"{"jsonrpc":"2.0","id":5,"method":"prompts/list"}"#,
            -32601,
        ),
    ];
    for (line, code) in cases {
        client.send_text(line).await;
        assert_eq!(client.next().await["error"]["code"], code, "{line}");
    }
    client.send_text("").await;
    client
        .send_text(&format!("\"{}\"", "x".repeat(17 << 20)))
        .await;
    assert_eq!(client.next().await["error"]["code"], -32600);
    assert_eq!(
        client.call("hello", json!({})).await["result"]["isError"],
        false
    );
}

#[tokio::test]
async fn progress_is_sent_only_with_a_progress_token() {
    let mut client = Client::legacy(&server()).await;
    client.call("steps", json!({})).await;
    assert!(client.notifications.is_empty());
    let params = json!({ "name": "steps", "_meta": { "progressToken": "p" } });
    let answer = client.ask("tools/call", params).await;
    assert_eq!(answer["result"]["content"][0]["text"], "2");
    let notifications: Vec<_> = client
        .notifications
        .iter()
        .map(|message| &message["params"])
        .collect();
    let expected = [
        json!({ "progressToken": "p", "progress": 1.0, "message": "one" }),
        json!({ "progressToken": "p", "progress": 2.0, "message": "two" }),
    ];
    assert_eq!(notifications, expected.iter().collect::<Vec<_>>());
}

#[tokio::test]
async fn a_cancelled_call_is_dropped() {
    let mut client = Client::legacy(&server()).await;
    let id = client.begin("tools/call", json!({ "name": "wait" })).await;
    // The call has begun when the next call is answered.
    client.call("hello", json!({})).await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id, "reason": "enough" } });
    client.send(&cancel).await;
    until(|| DROPPED.load(Ordering::SeqCst) > 0).await;
    // A cancelled call gets no response.
    let next = client.call("hello", json!({})).await;
    assert_eq!(next["result"]["content"][0]["text"], "hello");
    assert!(
        client.notifications.is_empty(),
        "{:?}",
        client.notifications
    );
}

#[tokio::test]
async fn list_is_paged_and_a_foreign_cursor_is_an_error() {
    let registry = Registry::builder()
        .tool::<add>()
        .tool::<count>()
        .tool::<hello>()
        .build()
        .unwrap();
    let server = McpServer::builder(registry).page_size(2).build();
    let mut client = Client::legacy(&server).await;
    let first = client.ask("tools/list", json!({})).await;
    assert_eq!(first["result"]["tools"].as_array().unwrap().len(), 2);
    let cursor = &first["result"]["nextCursor"];
    let second = client.ask("tools/list", json!({ "cursor": cursor })).await;
    assert_eq!(second["result"]["tools"][0]["name"], "hello");
    assert!(second["result"].get("nextCursor").is_none());
    let wrong = client.ask("tools/list", json!({ "cursor": "2" })).await;
    assert_eq!(wrong["error"]["code"], -32602);
}

#[tokio::test]
async fn hidden_tool_is_unknown_and_clients_are_notified_of_changes() {
    let registry = Registry::builder()
        .tool::<add>()
        .tool::<hello>()
        .build()
        .unwrap();
    let ruled = tool_mcp::Tools::ruled(registry.clone(), |_| {
        tool_core::Rules::default().deny(["add"])
    });
    let server = McpServer::builder(ruled).build();
    let mut client = Client::legacy(&server).await;
    let listed = client.ask("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 1);
    let hidden = client.call("add", json!({ "z": 1, "a": 1 })).await;
    let unknown = client.call("bad", json!({})).await;
    assert_eq!(hidden["error"]["code"], unknown["error"]["code"]);
    let text = |answer: &serde_json::Value| answer["error"]["message"].as_str().unwrap().to_owned();
    assert_eq!(text(&hidden).replace("`add`", "`bad`"), text(&unknown));

    server.replace_tools(registry).await;
    let notification = client.next().await;
    assert_eq!(notification["method"], "notifications/tools/list_changed");
    let shown = client.call("add", json!({ "z": 1, "a": 1 })).await;
    assert_eq!(shown["result"]["isError"], false);
}

#[tokio::test]
async fn modern_protocol_subscription_is_notified_of_changes() {
    let server = server();
    let mut client = Client::modern(&server);
    let id = client
        .begin(
            "subscriptions/listen",
            json!({ "notifications": { "toolsListChanged": true } }),
        )
        .await;
    let acknowledged = client.next().await;
    assert_eq!(
        acknowledged["method"], "notifications/subscriptions/acknowledged",
        "{acknowledged}"
    );
    server.tools_changed().await;
    let notification = client.next().await;
    assert_eq!(notification["method"], "notifications/tools/list_changed");
    assert_eq!(
        notification["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"],
        id
    );
}

// The context of a call may come from a database; if that fails, the client reads the error without the operator's text.
#[tokio::test]
async fn failed_context_is_reported_to_the_client() {
    /// Returns the user of the call.
    #[tool(read_only)]
    fn who(cx: &ToolContext) -> String {
        cx.user().unwrap_or("nobody").to_owned()
    }
    static KNOWN: AtomicUsize = AtomicUsize::new(1);
    let registry = Registry::builder().tool::<who>().build().unwrap();
    let server = McpServer::builder(registry)
        .context_async(|_| {
            Box::pin(async {
                tokio::task::yield_now().await;
                if KNOWN.load(Ordering::SeqCst) == 0 {
                    return Err(ToolError::new("the account is locked").operator("row 7"));
                }
                Ok(ToolContext::builder().user("ann").build())
            })
        })
        .build();
    let mut client = Client::legacy(&server).await;
    let called = client.call("who", json!({})).await;
    assert_eq!(called["result"]["content"][0]["text"], "ann", "{called}");
    KNOWN.store(0, Ordering::SeqCst);
    let refused = client.call("who", json!({})).await.to_string();
    assert!(refused.contains("the account is locked"), "{refused}");
    assert!(!refused.contains("row 7"), "{refused}");
}

// Every request is answered, even if the client reads no response before it has written all requests.
#[tokio::test]
async fn requests_are_answered_even_if_responses_are_read_last() {
    let mut client = Client::legacy(&server()).await;
    for _ in 0..5000 {
        client.begin("tools/call", json!({ "name": "hello" })).await;
    }
    let mut answered = std::collections::HashSet::new();
    while answered.len() < 5000 {
        let answer = client.next().await;
        assert_eq!(answer["result"]["content"][0]["text"], "hello");
        assert!(answered.insert(answer["id"].as_u64()));
    }
}

// 1000 pending calls do not delay other messages.
#[tokio::test]
async fn pending_calls_do_not_delay_other_messages() {
    let mut client = Client::legacy(&server()).await;
    let mut waiting = Vec::new();
    for _ in 0..1000 {
        waiting.push(client.begin("tools/call", json!({ "name": "wait" })).await);
    }
    let before = DROPPED.load(Ordering::SeqCst);
    let began = std::time::Instant::now();
    client.call("hello", json!({})).await;
    for id in waiting {
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
        client.send(&cancel).await;
    }
    until(|| DROPPED.load(Ordering::SeqCst) >= before + 1000).await;
    assert!(began.elapsed() < Duration::from_secs(30));
}

// The responses that a client does not read are bounded.
#[tokio::test]
async fn unread_responses_are_bounded() {
    static CALLS: AtomicUsize = AtomicUsize::new(0);

    /// Returns a long text.
    #[tool(read_only)]
    fn long() -> String {
        CALLS.fetch_add(1, Ordering::SeqCst);
        "x".repeat(256 << 10)
    }
    let registry = Registry::builder().tool::<long>().build().unwrap();
    let mut client = Client::legacy(&McpServer::builder(registry).build()).await;
    for _ in 0..400 {
        client.begin("tools/call", json!({ "name": "long" })).await;
    }
    // Text and structured content take half a megabyte per call. The server queues 32 MiB, and reads a few more calls before it stops.
    let mut calls = 0;
    while CALLS.load(Ordering::SeqCst) > calls || calls == 0 {
        calls = CALLS.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    assert!(
        calls < 250,
        "{calls} calls ran, although the client reads no response"
    );
    for _ in 0..400 {
        client.line().await;
    }
    assert_eq!(CALLS.load(Ordering::SeqCst), 400);
}
