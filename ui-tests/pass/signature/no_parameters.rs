use tool_core::prelude::*;

/// Returns the time, for this test.
#[tool]
pub async fn now() -> Result<u64, ToolError> {
    Ok(0)
}

fn main() {
    let tools = toolset![now];
    let schema = r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#;
    assert_eq!(tools.get("now").unwrap().schema(Dialect::OpenAi), schema);
}
