//! A server for the tests of MCP clients: `mcp-fixture [--tools-only] (--stdio | --http PORT)`.

use std::process::ExitCode;

use rmcp::ServerHandler;
use tool_mcp::{Composed, HttpOptions};
use tool_mcp_tests::{everything, tools_only};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let served = if arguments.iter().any(|argument| argument == "--tools-only") {
        match tools_only() {
            Ok(server) => serve(server, &arguments).await,
            Err(error) => Err(error.to_string()),
        }
    } else {
        match everything() {
            Ok(server) => serve(server, &arguments).await,
            Err(error) => Err(error.to_string()),
        }
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve<H: ServerHandler>(server: Composed<H>, arguments: &[String]) -> Result<(), String> {
    if arguments.iter().any(|argument| argument == "--stdio") {
        return server.stdio().await.map_err(|error| error.to_string());
    }
    let port = arguments
        .iter()
        .skip_while(|argument| *argument != "--http")
        .nth(1);
    let Some(port) = port.and_then(|port| port.parse::<u16>().ok()) else {
        return Err("pass `--stdio`, or `--http` and a port".to_owned());
    };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await;
    let listener = listener.map_err(|error| error.to_string())?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    eprintln!("http://{address}/mcp");
    let stop = std::future::pending();
    let ended = server
        .serve_http_until(listener, HttpOptions::new(), stop)
        .await;
    ended.map_err(|error| error.to_string())
}
