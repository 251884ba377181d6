use tool_core::prelude::*;

fn ten() -> u8 {
    10
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `limit` of `Query`.
    #[serde(default = "ten")]
    pub limit: u8,
}

fn main() {}
