#![deny(warnings)]

use tool_core::prelude::*;

/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
/// Searches the documentation of every crate that the workspace names, one line
#[tool(allow(tool-description-long))]
pub fn search(
    /// The argument `query` of the tool.
    query: String,
) -> Result<String, ToolError> {
    Ok(query)
}

fn main() {}
