use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// How many.
    #[schema(range = 0.5..=5.5)]
    pub many: u32,
}

fn main() {}
