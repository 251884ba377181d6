use tool_core::prelude::*;

/// Finds by type, for this test.
#[tool]
pub fn r#match(
    /// The argument `type` of the tool.
    r#type: String,
) -> Result<String, ToolError> {
    Ok(r#type)
}

fn main() {
    let tools = toolset![r#match];
    assert_eq!(tools.names().collect::<Vec<_>>(), ["match"]);
    assert!(tools.definitions(Dialect::Mcp).contains("\"type\":{"));
}
