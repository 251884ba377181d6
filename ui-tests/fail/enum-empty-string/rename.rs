use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub enum Order {
    #[serde(rename = "")]
    Default,
    Ascending,
}

fn main() {}
