use tool_core::prelude::*;

#[derive(Debug, Serialize, Deserialize, StrictSchema)]
pub enum Order {
    Ascending,
    #[serde(skip_deserializing)]
    Unknown,
}

fn main() {}
