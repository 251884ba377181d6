use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `number` of `Query`.
    #[schema(length = 1..=5)]
    pub number: Option<u32>,
}

fn main() {}
