//! The cost of `tools/call` over MCP: the same tool with rmcp's macros and bare dispatch, and with tool-mcp.
//!
//! `mcp WHO WAY CALLS HITS` makes that many calls in this process; callgrind counts two runs, whose difference is the cost of the calls.
//! `mcp cpu CALLS ROUNDS` measures the CPU time of servers that are separate processes.

mod cpu;

use std::process::ExitCode;

use axum::{Router, body::Body};
use benches::{ours::{Filter, gated}, work::{self, Arguments, Hit, Hits}};
use http_body_util::BodyExt as _;
use rmcp::{
    ServerHandler, ServiceExt as _,
    handler::server::wrapper::{Json, Parameters},
    model::{ServerCapabilities, ServerConfig},
    tool_handler, tool_router,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager},
};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tool_core::prelude::*;
use tool_mcp::{HttpOptions, McpServer};
use tower::ServiceExt as _;

/// The server with rmcp.
#[derive(Clone)]
struct Server;

#[tool_router]
impl Server {
    /// Searches an index of repositories. Use it before answering a question about one.
    #[rmcp::tool(annotations(read_only_hint = true))]
    async fn search(&self, Parameters(arguments): Parameters<Arguments>) -> Json<Hits> {
        Json(Hits { hits: work::search(&arguments.query, arguments.limit, arguments.filter.and_then(|filter| filter.min_stars)) })
    }
}

/// The router is built once, which a careful author would do; rmcp's default builds it for each call.
static ROUTER: std::sync::LazyLock<rmcp::handler::server::router::tool::ToolRouter<Server>> =
    std::sync::LazyLock::new(Server::tool_router);

#[tool_handler(router = ROUTER)]
impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// Results, with a schema of our own.
#[derive(Serialize, StrictSchema)]
struct Found {
    /// Best first.
    hits: Vec<Shown>,
}

/// One result.
#[derive(Serialize, StrictSchema)]
struct Shown {
    /// Title of the page.
    title: String,
    /// Where it is.
    url: String,
    /// How well it fits.
    score: f64,
}

/// Searches an index of repositories. Use it before answering a question about one.
#[tool(read_only)]
async fn search(
    /// What to search for.
    query: String,
    /// How many hits to return.
    limit: Option<u32>,
    /// Narrow the search.
    filter: Option<Filter>,
) -> Found {
    let shown = |Hit { title, url, score }| Shown { title, url, score };
    Found { hits: work::search(&query, limit, filter.and_then(|filter| filter.min_stars)).into_iter().map(shown).collect() }
}

fn ours(gate: bool) -> McpServer {
    let registry = Registry::builder().tool::<search>().build().expect("a registry");
    if !gate {
        return McpServer::builder(registry).build();
    }
    let (tools, context) = gated(&registry, true);
    McpServer::builder(tools).context(move |_| context.clone()).build()
}

/// The request of a call. `modern` uses the newer protocol version, and `hits` is the number of results to request.
fn call(id: usize, modern: bool, hits: u32) -> String {
    let arguments = work::arguments(hits);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#;
    let meta = if modern { meta } else { "" };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{meta}"name":"search","arguments":{arguments}}}}}"#)
}

async fn lines(input: DuplexStream, output: DuplexStream, calls: usize, hits: u32) {
    let (mut input, mut output) = (input, BufReader::new(output));
    let mut line = String::new();
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"b","version":"1"}}}"#;
    input.write_all(format!("{initialize}\n").as_bytes()).await.expect("written");
    output.read_line(&mut line).await.expect("read");
    input.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await.expect("written");
    for id in 1..=calls {
        input.write_all(format!("{}\n", call(id, false, hits)).as_bytes()).await.expect("written");
        line.clear();
        output.read_line(&mut line).await.expect("read");
        assert!(line.contains("structuredContent") && line.contains("about/it"), "{line}");
    }
}

async fn http(router: Router, calls: usize, hits: u32) {
    for id in 1..=calls {
        let request = http::Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "search")
            .body(Body::from(call(id, true, hits)))
            .expect("a request");
        let response = router.clone().oneshot(request).await.expect("an answer");
        let body = response.into_body().collect().await.expect("a body").to_bytes();
        let text = String::from_utf8_lossy(&body);
        assert!(text.contains("structuredContent") && text.contains("about/it"), "{text}");
    }
}

fn rmcp_service(json: bool) -> StreamableHttpService<Server, LocalSessionManager> {
    let config = StreamableHttpServerConfig::default().with_json_response(json);
    StreamableHttpService::new(|| Ok(Server), LocalSessionManager::default().into(), config)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", who] => cpu::serve(who),
        ["cpu", calls, rounds] => cpu::measure(calls.parse().expect("calls are a number"), rounds.parse().expect("rounds are a number")),
        _ => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(counted(&arguments))
        }
    }
}

/// Makes calls in this process, for callgrind.
async fn counted(arguments: &[String]) -> ExitCode {
    let [who, way, calls, hits] = arguments else {
        eprintln!("usage: mcp rmcp|ours|gate stdio|http CALLS HITS, or mcp cpu CALLS ROUNDS");
        return ExitCode::FAILURE;
    };
    let (Ok(calls), Ok(hits)) = (calls.parse(), hits.parse()) else {
        eprintln!("calls and hits are numbers");
        return ExitCode::FAILURE;
    };
    if way == "http" {
        let router = if who == "rmcp" {
            Router::new().nest_service("/mcp", rmcp_service(true))
        } else {
            ours(who == "gate").http(HttpOptions::new())
        };
        http(router, calls, hits).await;
        return ExitCode::SUCCESS;
    }
    let (client, input) = tokio::io::duplex(1 << 16);
    let (output, answers) = tokio::io::duplex(1 << 16);
    if who == "rmcp" {
        tokio::spawn(async move { Server.serve((input, output)).await.expect("served").waiting().await });
    } else {
        let server = ours(who == "gate");
        tokio::spawn(async move { server.serve_lines(input, output).await });
    }
    lines(client, answers, calls, hits).await;
    ExitCode::SUCCESS
}
