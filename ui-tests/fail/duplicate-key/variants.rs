use tool_core::prelude::*;

#[derive(Debug, StrictSchema)]
pub enum Order {
    Ascending,
    #[serde(rename = "Ascending")]
    Up,
}

fn main() {}
