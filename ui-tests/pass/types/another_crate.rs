#![deny(warnings)]

use tool_core::prelude::*;

/// Reads pages of another crate.
#[tool(example("Nothing", { "pages": [{ "items": [], "next": null }] }))]
pub fn read(
    /// The argument `pages` of the tool.
    pages: Vec<ui_foreign::Page<ui_foreign::Page<u16>>>,
) -> Result<usize, ToolError> {
    Ok(pages.len())
}

/// Reads a record with additional keys, which only some providers support.
#[tool(providers(json_schema))]
pub fn read_open(
    /// The argument `tree` of the tool.
    tree: ui_foreign::Tree,
    /// A record with additional keys.
    tagged: ui_foreign::Tagged,
) -> Result<String, ToolError> {
    Ok(tree.name + &tagged.name)
}

fn main() {}
