#![allow(private_interfaces)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
struct Filter {
    /// The field `lang` of `Filter`.
    lang: String,
}

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `many` of the tool.
    many: u8,
    /// The argument `filter` of the tool.
    filter: Filter,
) -> Result<String, ToolError> {
    drop(many);
    Ok(filter.lang)
}

fn main() {}
