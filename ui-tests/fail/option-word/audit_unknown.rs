use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `limit` of `Query`.
    #[schema(audit = prevew)]
    pub limit: u8,
    /// A field that is not on the wire.
    #[serde(skip)]
    #[schema(audit = value)]
    pub skipped: u8,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Words(#[schema(audit = length)] String);

/// Lists all of the entries.
#[tool]
pub fn list(
    /// The argument `limit` of the tool.
    #[arg(audit = hidden)]
    limit: u8,
    /// The argument `what` of the tool.
    #[arg(audit)]
    what: String,
    /// The argument `whom` of the tool.
    #[arg(audit = "value")]
    whom: String,
) -> Result<u8, ToolError> {
    let _ = (what, whom);
    Ok(limit)
}

fn main() {}
