use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// Language.
    pub lang:
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
