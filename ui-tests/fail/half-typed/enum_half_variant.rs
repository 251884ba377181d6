use tool_core::prelude::*;

#[derive(Debug, StrictSchema)]
#[serde(tag = "kind")]
pub enum Filter {
    /// The variant `One` of `Filter`.
    One {
        /// Language.
        lang
    },
    /// The variant `Two` of `Filter`.
    Two,
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
