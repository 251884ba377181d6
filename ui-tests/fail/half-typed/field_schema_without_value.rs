use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// How many.
    #[schema(length = )]
    pub many: u8,
}

/// Lists.
#[tool]
pub fn list(
    /// Narrow it.
    filter: Filter,
) -> Result<(), ToolError> {
    drop(filter);
    Ok(())
}

fn main() {}
