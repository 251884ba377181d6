use tool_core::prelude::*;

fn parse() -> Result<u32, String> {
    Err("no number".to_owned())
}

/// Reads a number, for this test.
#[tool(read_only)]
pub async fn read() -> Result<u32, ToolError> {
    Ok(parse()?)
}

fn main() {}
