use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Limited<T> {
    /// The field `value` of `Limited`.
    pub value: T,
    /// The field `many` of `Limited`.
    #[schema(length = 1..=5)]
    pub many: u32,
}

/// Takes a value, for this test.
#[tool]
pub fn take(
    /// The argument `limited` of the tool.
    limited: Limited<String>,
) -> Result<String, ToolError> {
    Ok(limited.value)
}

fn main() {}
