use tool_core::prelude::*;

#[derive(Debug, StrictSchema)]
pub struct Query {
    /// The field `max` of `Query`.
    #[serde(renam = "limit")]
    pub max: u8,
}

fn main() {}
