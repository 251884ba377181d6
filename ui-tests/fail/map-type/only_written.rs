use std::collections::HashMap;

use tool_core::prelude::*;

/// A record that is only written, so that its map is not a fault by itself.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Labels {
    /// The labels by their names.
    pub all: HashMap<String, String>,
}

/// Counts labels, for this test.
#[tool]
pub fn count(
    /// The argument `labels` of the tool.
    labels: Labels,
) -> Result<usize, ToolError> {
    Ok(labels.all.len())
}

fn main() {}
