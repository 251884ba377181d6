use tool_core::prelude::*;

#[derive(Debug, Serialize, Deserialize, StrictSchema)]
pub enum Order {
    #[serde(rename(serialize = "up", deserialize = "ascending"))]
    Ascending,
    Descending,
}

fn main() {}
