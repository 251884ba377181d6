//! tool-core.

use tool_core::{DynamicTool, prelude::*};

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

/// The same tool under another name, made at run time, to fill a registry.
#[must_use]
pub fn twin(number: usize) -> DynamicTool {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "query": { "type": "string", "description": "What to search for." } },
        "required": ["query"],
        "additionalProperties": false,
    });
    let body = async |arguments: serde_json::Value, _: ToolContext| Ok::<_, ToolError>(arguments);
    DynamicTool::new(format!("search_{number}"), "Searches an index of repositories.", &schema, body)
}
