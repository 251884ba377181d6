use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `max` of `Query`.
    #[serde(rename = "limit")]
    pub max: u8,
    /// The field `limit` of `Query`.
    pub limit: u8,
}

fn main() {}
