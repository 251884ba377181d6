use tool_core::prelude::*;

use std::collections::BTreeMap;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// Tags.
    pub tags: Vec<BTreeMap<String, u8>>,
}

/// Tags a page.
#[tool]
pub fn tag(
    /// The page.
    page: Page,
) -> Result<usize, ToolError> {
    Ok(page.tags.len())
}

fn main() {}
