use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Record {
    /// The field `payload` of `Record`.
    pub payload: Vec<serde_json::Value>,
}

fn main() {}
