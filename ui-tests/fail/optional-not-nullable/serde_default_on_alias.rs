use tool_core::prelude::*;

type Count = u16;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// How many.
    #[serde(default)]
    pub limit: Vec<Count>,
}

fn main() {}
