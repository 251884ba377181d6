use tool_core::prelude::*;

/// Searches the documentation.
#[tool(alias = "find docs")]
fn search_docs() -> u8 {
    0
}

fn main() {}
