use tool_core::prelude::*;

#[derive(Debug, Default, Deserialize, StrictSchema)]
#[serde(default)]
pub struct Query {
    /// How many.
    pub limit: u8,
}

fn main() {}
