use tool_core::prelude::*;

/// Lists.
#[tool(example("Upper", { "code": "ABC" }))]
pub fn list(
    /// A code.
    #[arg(pattern = "^[a-z]+$")]
    code: String,
) -> Result<String, ToolError> {
    Ok(code)
}

fn main() {}
