use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Filter {
    /// The field `many` of `Filter`.
    #[schema(length = )]
    pub many: u8,
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
