#![allow(private_interfaces)]

use tool_core::prelude::*;

#[derive(Debug, Serialize, StrictSchema)]
struct Hit {
    /// The field `lang` of `Hit`.
    lang: String,
}

/// Lists all of the entries.
#[tool]
pub fn list() -> Result<Vec<Hit>, ToolError> {
    Ok(Vec::new())
}

fn main() {}
