#![deny(warnings)]

use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `limit` of `Query`.
    #[serde(alias = "max")]
    pub limit: u8,
}

fn main() {}
