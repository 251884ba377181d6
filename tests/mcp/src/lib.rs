//! An MCP server with all the tools, prompts and resources that the official conformance suite requests.
//!
//! Most of its tools are `#[tool]` functions. They are composed with a handler written with rmcp, which implements prompts, resources, completion and
//! the tools that `#[tool]` cannot express, such as tools that send requests to the client.

use tool_core::prelude::*;
use tool_mcp::{Composed, McpServer};

use crate::tools::Served;

mod fixtures;
mod host;
mod rounds;
mod tools;

pub use host::Host;

/// Returns a server with only the `#[tool]` functions.
pub fn tools_only() -> Result<McpServer, tool_core::RegistryError> {
    let changes = Served::default();
    let in_context = changes.clone();
    let server = McpServer::builder(Registry::linked()?)
        .name("tools-only")
        .context(move |_| ToolContext::builder().with(in_context.clone()).build())
        .build();
    changes.tools(&server);
    Ok(server)
}

/// Returns a server with the `#[tool]` functions, composed with the handler for everything else.
pub fn everything() -> Result<Composed<Host>, tool_core::RegistryError> {
    let changes = Served::default();
    let in_context = changes.clone();
    let server = McpServer::builder(Registry::linked()?)
        .name("everything")
        .context(move |_| ToolContext::builder().with(in_context.clone()).build())
        .build()
        .compose(Host::default())
        .host_tools();
    changes.tools(&server);
    changes.prompts(&server);
    Ok(server)
}
