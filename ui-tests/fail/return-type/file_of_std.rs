use tool_core::prelude::*;

/// Opens.
#[tool]
pub fn open() -> Result<std::fs::File, ToolError> {
    Ok(std::fs::File::open("a")?)
}

fn main() {}
