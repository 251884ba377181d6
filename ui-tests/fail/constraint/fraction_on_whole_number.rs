use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `many` of `Query`.
    #[schema(range = 0.5..=5.5)]
    pub many: u32,
}

fn main() {}
