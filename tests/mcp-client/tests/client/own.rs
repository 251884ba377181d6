//! Tests of this project's client with this project's servers: over pipes, as a child process, and over HTTP.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::transport::StreamableHttpClientTransport;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::process::Command;
use tool_core::ErrorKind;
use tool_core::prelude::*;
use tool_mcp::client::{McpClient, mcp_tools};
use tool_mcp::rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction,
    ErrorData, Implementation, ProtocolVersion,
};
use tool_mcp::rmcp::service::{ClientLifecycleMode, RequestContext, RoleClient};
use tool_mcp::rmcp::{ClientHandler, ServiceExt as _};
use tool_mcp::{HttpOptions, McpServer};

use crate::support::{call, none, open, payload, start, steps};

pub(crate) fn eras() -> [ClientLifecycleMode; 2] {
    let modern = ClientLifecycleMode::Discover {
        preferred_versions: vec![ProtocolVersion::V_2026_07_28],
    };
    [ClientLifecycleMode::Initialize, modern]
}

/// Connects a client to a server through two in-memory pipes.
pub(crate) async fn connect(server: &McpServer, era: ClientLifecycleMode) -> McpClient {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(theirs);
    let server = server.clone();
    tokio::spawn(async move { server.serve_lines(input, output).await });
    McpClient::connect_with((), tokio::io::split(ours), era)
        .await
        .unwrap()
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
fn walk() -> ToolStream<String, u64> {
    tool_stream! {
        yield "one".to_owned();
        yield "two".to_owned();
        2
    }
}

/// The result of an addition.
#[derive(Serialize, StrictSchema)]
struct Sum {
    /// The sum.
    sum: u64,
}

/// Adds two numbers.
#[tool(read_only, title = "Add")]
fn add(
    /// The first number.
    a: u64,
    /// The second number.
    b: Option<u64>,
) -> Result<Sum, ToolError> {
    let sum = a.checked_add(b.unwrap_or(0));
    let sum =
        sum.ok_or_else(|| ToolError::new("the sum has more than 64 bits, take smaller numbers"))?;
    Ok(Sum { sum })
}

fn server() -> McpServer {
    let registry = Registry::builder()
        .tool::<add>()
        .tool::<wait>()
        .tool::<walk>();
    McpServer::builder(registry.build().unwrap())
        .name("sums")
        .page_size(1)
        .build()
}

async fn is_right(client: &McpClient) {
    let info = client.peer().peer_info().unwrap();
    let handshake = info.protocol_version.has_initialize();
    let tools = mcp_tools(client)
        .namespace("s")
        .trust_hints()
        .await
        .unwrap();
    assert_eq!(tools.server(), "sums");
    let report = tools.report().to_string();
    assert_eq!(tools.report().refused().count(), 0, "{report}");
    for tool in tools.report().tools() {
        assert!(
            tool.unheld.is_empty() && tool.left_out.is_empty(),
            "{report}"
        );
    }
    let tools = open(&tools);
    let def = tools.get("s__add").unwrap();
    assert!(def.hints().read_only && def.description() == "Adds two numbers.");
    assert!(def.definition(Dialect::Mcp).contains(r#""title":"Add""#));
    assert!(def.output_schema().is_some());

    // Arguments and results keep all digits of 64-bit integers, and null is read as an absent argument.
    let big = call(&tools, "s__add", json!({"a": u64::MAX, "b": null})).await;
    assert_eq!(payload(&big), json!({"sum": u64::MAX}));
    let failed = call(&tools, "s__add", json!({"a": u64::MAX, "b": 1})).await;
    let error = failed.error().unwrap();
    assert_eq!(error.kind(), ErrorKind::Failed);
    assert_eq!(
        error.model_text(),
        "the sum has more than 64 bits, take smaller numbers"
    );
    // The client refuses a number above 64 bits instead of rounding it.
    let beyond = ToolCall::new("c", "s__add", r#"{"a":18446744073709551616}"#);
    let beyond = tools.call(beyond, &ToolContext::anonymous()).await;
    assert_eq!(beyond.error().unwrap().kind(), ErrorKind::InvalidArguments);

    let (told, result) = steps(&tools, "s__walk", none()).await;
    // The legacy protocol requires an object, so the server wraps the result and its output schema.
    let two = if handshake {
        json!({"result": 2})
    } else {
        json!(2)
    };
    assert_eq!((payload(&result), result.model_text().as_str()), (two, "2"));
    let told: Vec<_> = told
        .iter()
        .map(|step| step["message"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["one", "two"]);

    // After the client's deadline, the server drops the call.
    let before = DROPPED.load(Ordering::SeqCst);
    let cx = ToolContext::builder()
        .deadline(Duration::from_millis(200))
        .build();
    let late = tools.call(ToolCall::new("c", "s__wait", "{}"), &cx).await;
    assert_eq!(late.error().unwrap().kind(), ErrorKind::TimedOut);
    while DROPPED.load(Ordering::SeqCst) == before {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn tools_work_over_pipes_and_http_in_both_protocol_versions() {
    for era in eras() {
        is_right(&connect(&server(), era).await).await;
    }
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let options = HttpOptions::default();
        server()
            .serve_http_until(listener, options, std::future::pending())
            .await
    });
    for era in eras() {
        let transport = StreamableHttpClientTransport::from_uri(format!("http://{address}/mcp"));
        let client = McpClient::connect_with((), transport, era).await.unwrap();
        is_right(&client).await;
    }
}

#[tokio::test]
async fn tools_work_over_a_child_process() {
    let client = start(Command::new(env!("CARGO_BIN_EXE_shop"))).await;
    let tools = open(&mcp_tools(&client).trust_hints().await.unwrap());
    assert_eq!(tools.names().collect::<Vec<_>>(), ["look", "order"]);
    let ordered = call(&tools, "order", json!({"thing": "tea"})).await;
    assert_eq!(payload(&ordered), json!({"id": u64::MAX, "items": 1}));
    let none_left = call(&tools, "order", json!({"thing": "nothing"})).await;
    assert_eq!(
        none_left.model_text(),
        "the shop does not sell `nothing`, name an item"
    );
    let (told, _) = steps(&tools, "look", none()).await;
    assert_eq!(told.len(), 3);
    client.close();
    while !client.is_closed() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let gone = call(&tools, "look", none()).await;
    assert_eq!(gone.error().unwrap().kind(), ErrorKind::Unavailable);
}

#[tokio::test]
async fn any_running_rmcp_client_is_accepted() {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(async move { server().serve_lines(input, output).await });
    let running = ().serve(tokio::io::split(ours)).await.unwrap();
    // The error for a name conflict names the origins of both tools.
    let tools = mcp_tools(&running).await.unwrap();
    let taken = tools.add_to(Registry::builder().tool::<walk>()).build();
    let taken = taken.unwrap_err().to_string();
    assert!(taken.contains("`walk` of the MCP server `sums`"), "{taken}");
    for tools in [mcp_tools(&running), mcp_tools(running.peer())] {
        let tools = open(&tools.trust_hints().await.unwrap());
        let (told, result) = steps(&tools, "walk", none()).await;
        assert_eq!((told.len(), payload(&result)), (0, json!({"result": 2})));
    }
}

/// The place of a table.
#[derive(Deserialize, StrictSchema)]
struct Place {
    /// The city.
    city: String,
}

/// Books a table.
#[tool(idempotent)]
async fn book(cx: &ToolContext) -> Result<String, ToolError> {
    let place = cx.ask::<Place>("In which city?").await?;
    Ok(place
        .given()
        .map_or("nothing".to_owned(), |place| place.city))
}

/// A client handler that answers questions.
struct User;

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let can = ClientCapabilities::builder().enable_elicitation().build();
        ClientConfig::new(can, Implementation::new("user", "1"))
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let answer = ElicitResult::new(ElicitationAction::Accept);
        Ok(answer.with_content(json!({"city": "Turin"})))
    }
}

// M15: the host's elicitation handler answers the question of a tool.
#[tokio::test]
async fn question_of_a_tool_reaches_the_hosts_handler() {
    let registry = Registry::builder().tool::<book>().build().unwrap();
    let server = McpServer::builder(registry).name("tables").build();
    for era in eras() {
        let pipe = || {
            let (ours, theirs) = tokio::io::duplex(1 << 20);
            let (input, output) = tokio::io::split(theirs);
            let server = server.clone();
            tokio::spawn(async move { server.serve_lines(input, output).await });
            tokio::io::split(ours)
        };
        let client = McpClient::connect_with(User, pipe(), era.clone()).await;
        let client = client.unwrap();
        let tools = open(&mcp_tools(&client).trust_hints().await.unwrap());
        assert_eq!(call(&tools, "book", none()).await.model_text(), "Turin");

        // If the client's handler does not support elicitation, the call fails.
        let silent = McpClient::connect_with((), pipe(), era.clone()).await;
        let silent = silent.unwrap();
        let tools = open(&mcp_tools(&silent).trust_hints().await.unwrap());
        let asked = call(&tools, "book", none()).await;
        assert!(asked.is_error(), "{era:?}: {}", asked.model_text());
    }
}

// M15: a question fails if tools are read through a bare peer, which cannot answer questions.
#[tokio::test]
async fn question_over_a_bare_peer_fails() {
    let registry = Registry::builder().tool::<book>().build().unwrap();
    let server = McpServer::builder(registry).name("tables").build();
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (input, output) = tokio::io::split(theirs);
    tokio::spawn(async move { server.serve_lines(input, output).await });
    let [_, modern] = eras();
    let client = McpClient::connect_with(User, tokio::io::split(ours), modern).await;
    let client = client.unwrap();
    let tools = open(&mcp_tools(client.peer()).trust_hints().await.unwrap());
    let asked = call(&tools, "book", none()).await;
    let error = asked.error().unwrap();
    assert_eq!(
        error.kind(),
        ErrorKind::Unavailable,
        "{}",
        error.operator_text()
    );
    assert!(error.operator_text().contains("connect_with"));
}
