use tool_core::prelude::*;

#[derive(Debug, StrictSchema)]
pub struct Filter {
    /// Language.
    pub lang: ,
    /// How many.
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
