//! tool-core.

use tool_core::prelude::*;

use crate::work::{self, Filter, Hit};

/// Searches an index of repositories. Use it before answering a question about one.
#[tool]
pub async fn search(
    /// What to search for.
    query: String,
    /// How many hits to return.
    limit: Option<u32>,
    /// Narrow the search.
    filter: Option<Filter>,
) -> Result<Vec<Hit>, ToolError> {
    Ok(work::search(&query, limit, filter.as_ref()))
}
