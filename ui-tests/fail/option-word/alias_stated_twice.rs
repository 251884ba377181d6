use tool_core::prelude::*;

/// Searches the documentation.
#[tool(alias = "find_docs", alias = "docs", alias = "find_docs")]
fn search_docs() -> u8 {
    0
}

fn main() {}
