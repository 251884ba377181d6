//! An MCP client: the tools of an MCP server in the registry of this program, limited by a lock file to the tools that were reviewed.
//!
//! `cargo run --example mcp_client` starts this program a second time as a small server. `… -- npx -y @modelcontextprotocol/server-everything` starts
//! a different server, and only lists its tools.

use std::path::Path;

use tokio::process::Command;
use tool_core::policy::{Policy, Rule};
use tool_core::prelude::*;
use tool_core::{Gate, Rules};
use tool_mcp::McpServer;
use tool_mcp::client::{McpClient, McpLock, McpTools, mcp_tools};
use tool_mcp::rmcp::transport::TokioChildProcess;

/// Finds a word in the notes. Use it before you describe their contents.
#[tool(read_only)]
fn find(
    /// The word to search for.
    word: String,
) -> Vec<String> {
    let notes = ["tea at four", "buy milk and tea"];
    let found = notes.iter().filter(|note| note.contains(&word));
    found.map(ToString::to_string).collect()
}

/// Removes every note of the host.
#[tool(destructive)]
fn clear() -> String {
    "removed".to_owned()
}

/// Imports the tools of a server. The first call writes a lock file with the tools; later calls leave out tools that differ from this file.
async fn load(client: &McpClient, lock: &Path) -> Result<McpTools, Box<dyn std::error::Error>> {
    let load = mcp_tools(client).namespace("notes");
    if !lock.exists() {
        let tools = load.await?;
        std::fs::write(lock, serde_json::to_string_pretty(tools.lock())?)?;
        return Ok(tools);
    }
    let lock: McpLock = serde_json::from_slice(&std::fs::read(lock)?)?;
    Ok(load.lock(lock).await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let server = match &arguments[..] {
        [serve] if serve == "serve" => {
            let tools = Registry::builder().tool::<find>().tool::<clear>().build()?;
            return Ok(McpServer::builder(tools)
                .name("notes")
                .build()
                .stdio()
                .await?);
        }
        [] => {
            let mut own = Command::new(std::env::current_exe()?);
            own.arg("serve");
            own
        }
        [program, rest @ ..] => {
            let mut other = Command::new(program);
            other.args(rest);
            other
        }
    };
    let client = McpClient::connect(TokioChildProcess::new(server)?).await?;

    let folder = tempfile::tempdir()?;
    let lock = folder.path().join("notes.lock.json");
    let tools = load(&client, &lock).await?;
    print!("{}", tools.report());
    if !arguments.is_empty() {
        return Ok(());
    }

    // At the next start the server describes `find` differently. This example simulates that by editing the lock file.
    let kept = std::fs::read_to_string(&lock)?;
    std::fs::write(&lock, kept.replace("Finds a word", "Looks for a word"))?;
    let mut tools = load(&client, &lock).await?;
    print!("\nchanges since the review:\n{}", tools.drift());
    assert!(
        !tools
            .report()
            .get("find")
            .is_some_and(tool_mcp::client::ToolReport::is_offered)
    );
    tools.accept("find");

    // Every call passes the host's gate. The effects that a server declares are not trusted, so the policy names the tools that may run.
    let registry = tools.add_to(Registry::builder()).build()?;
    let policy = Policy::builder().rule(Rule::allow("reading").tools(["notes:find"]));
    let cx = ToolContext::anonymous();
    let turn = registry.toolset(&cx, &Rules::default().policy(&policy.share()?));
    let turn = turn.through(&Gate::builder().build());
    println!();
    for (name, arguments) in [("notes__find", r#"{"word":"tea"}"#), ("notes__clear", "{}")] {
        let result = turn
            .call(ToolCall::new("call_1", name, arguments), &cx)
            .await;
        println!("{name}: {}", result.model_text());
    }
    Ok(())
}
