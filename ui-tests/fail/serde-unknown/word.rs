use tool_core::prelude::*;

#[derive(Debug, StrictSchema)]
pub struct Query {
    /// How many.
    #[serde(renam = "limit")]
    pub max: u8,
}

fn main() {}
