use tool_core::prelude::*;

/// Lists all of the entries.
#[tool(example("Upper", { "code": "ABC" }))]
pub fn list(
    /// The argument `code` of the tool.
    #[arg(pattern = "^[a-z]+$")]
    code: String,
) -> Result<String, ToolError> {
    Ok(code)
}

fn main() {}
