use tool_core::prelude::*;

type Count = u16;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `limit` of `Query`.
    #[serde(default)]
    pub limit: Vec<Count>,
}

fn main() {}
