use tool_core::prelude::*;

fn load() -> Result<u32, Box<dyn std::error::Error>> {
    Err("no file".into())
}

fn parse() -> Result<u32, String> {
    Err("no number".to_owned())
}

/// Reads a number.
#[tool(read_only)]
pub async fn read() -> Result<u32, ToolError> {
    Ok(load()?)
}

/// Reads another number.
#[tool(read_only)]
pub async fn read_again() -> Result<u32, ToolError> {
    Ok(parse()?)
}

fn main() {}
