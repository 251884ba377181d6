use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// How many.
    #[schema = "range"]
    pub limit: u8,
}

fn main() {}
