use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// How many.
    #[serde(rename = "limit")]
    pub max: u8,
    /// How many.
    pub limit: u8,
}

fn main() {}
