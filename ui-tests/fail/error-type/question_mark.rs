use tool_core::prelude::*;

fn load() -> Result<u32, Box<dyn std::error::Error>> {
    Err("no file".into())
}

/// Reads a number, for this test.
#[tool(read_only)]
pub async fn read() -> Result<u32, ToolError> {
    Ok(load()?)
}

fn main() {}
