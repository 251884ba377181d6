//! An MCP server with all the tools, prompts and resources that the official conformance suite requests.
//!
//! Its tools are `#[tool]` functions. They are composed with a handler written with rmcp, which implements prompts, resources, completion and
//! requests to the client.

use tool_core::prelude::*;
use tool_mcp::{Composed, McpServer};

use crate::tools::Served;

mod fixtures;
mod host;
mod rounds;
mod tools;

pub use host::Host;

/// Returns a server with only the tools.
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

/// Returns the tools, composed with the handler for all other requests.
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
