use tool_core::prelude::*;

#[derive(Debug, Default, Deserialize, StrictSchema)]
#[serde(default)]
pub struct Query {
    /// The field `limit` of `Query`.
    pub limit: u8,
}

fn main() {}
