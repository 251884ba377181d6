use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `top` of `Query`.
    #[serde(rename = "$top")]
    pub top: u8,
}

fn main() {}
