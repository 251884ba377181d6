use tool_core::prelude::*;

#[derive(Debug, StrictSchema)]
#[serde(tag = "kind")]
pub enum Filter {
    /// One.
    One {
        /// Language.
        lang
    },
    /// Two.
    Two,
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
