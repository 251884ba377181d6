use tool_core::prelude::*;

/// The tool `open` of this test.
#[tool]
pub fn open() -> Result<std::fs::File, ToolError> {
    Ok(std::fs::File::open("a")?)
}

fn main() {}
