use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Record {
    /// Anything.
    pub payload: Vec<serde_json::Value>,
}

fn main() {}
