use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// Language.
    pub lang
}

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `filter` of the tool.
    filter: Filter,
) -> Result<(), ToolError> {
    drop(filter);
    Ok(())
}

fn main() {}
