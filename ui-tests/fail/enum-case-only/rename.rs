use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub enum Order {
    Asc,
    #[serde(rename = "asc")]
    Lower,
}

fn main() {}
