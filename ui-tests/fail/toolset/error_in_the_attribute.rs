use tool_core::prelude::*;

use tool_core::toolset;

/// Greets a person by name.
#[tool(naem = "greet")]
pub async fn greet(
    /// The argument `whom` of the tool.
    whom: String,
) -> Result<String, ToolError> {
    Ok(whom)
}

fn main() {
    let _ = toolset![greet];
    let _ = greet { whom: String::new() };
    assert_eq!(<greet as tool_core::Tool>::NAME, "greet");
}
