use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Limited<T> {
    /// The value.
    pub value: T,
    /// How many.
    #[schema(length = 1..=5)]
    pub many: u32,
}

/// Takes one.
#[tool]
pub fn take(
    /// It.
    limited: Limited<String>,
) -> Result<String, ToolError> {
    Ok(limited.value)
}

fn main() {}
