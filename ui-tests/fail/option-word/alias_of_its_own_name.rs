use tool_core::prelude::*;

/// Searches the documentation.
#[tool(alias = "search_docs")]
fn search_docs() -> u8 {
    0
}

fn main() {}
