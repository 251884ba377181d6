//! An MCP server with everything that the official conformance suite asks for.
//!
//! Its tools are `#[tool]` functions. Prompts, resources, completion and requests to the client come from a handler written with rmcp, which the tools are
//! composed with.

use tool_core::prelude::*;
use tool_mcp::{Composed, McpServer};

use crate::tools::Served;

mod fixtures;
mod host;
mod rounds;
mod tools;

pub use host::Host;

/// Returns a server with the tools alone.
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

/// Returns the tools, composed with a handler for everything else.
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
