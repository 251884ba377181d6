use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `limit` of `Query`.
    #[schema(rnage = 1..=5)]
    pub limit: u8,
}

fn main() {}
