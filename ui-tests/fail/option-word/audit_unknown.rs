use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// How many.
    #[schema(audit = prevew)]
    pub limit: u8,
    /// Not on the wire.
    #[serde(skip)]
    #[schema(audit = value)]
    pub skipped: u8,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Words(#[schema(audit = length)] String);

/// Lists.
#[tool]
pub fn list(
    /// How many.
    #[arg(audit = hidden)]
    limit: u8,
    /// For what.
    #[arg(audit)]
    what: String,
    /// For whom.
    #[arg(audit = "value")]
    whom: String,
) -> Result<u8, ToolError> {
    let _ = (what, whom);
    Ok(limit)
}

fn main() {}
