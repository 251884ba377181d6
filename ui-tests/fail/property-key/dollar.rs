use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// How many.
    #[serde(rename = "$top")]
    pub top: u8,
}

fn main() {}
