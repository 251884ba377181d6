use tool_core::prelude::*;

use std::collections::BTreeMap;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// The field `tags` of `Page`.
    pub tags: Vec<BTreeMap<String, u8>>,
}

/// Tags a page, for this test.
#[tool]
pub fn tag(
    /// The argument `page` of the tool.
    page: Page,
) -> Result<usize, ToolError> {
    Ok(page.tags.len())
}

fn main() {}
