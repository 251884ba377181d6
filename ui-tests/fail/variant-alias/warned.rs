use tool_core::prelude::*;

#![deny(warnings)]

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// How many.
    #[serde(alias = "max")]
    pub limit: u8,
}

fn main() {}
