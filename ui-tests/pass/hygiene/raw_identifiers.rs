use tool_core::prelude::*;

/// Finds by type.
#[tool]
pub fn r#match(
    /// The type.
    r#type: String,
) -> Result<String, ToolError> {
    Ok(r#type)
}

fn main() {
    let tools = toolset![r#match];
    assert_eq!(tools.names().collect::<Vec<_>>(), ["match"]);
    assert!(tools.definitions(Dialect::Mcp).contains("\"type\":{"));
}
