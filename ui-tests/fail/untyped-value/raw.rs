use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Record {
    /// Anything.
    pub payload: Box<serde_json::value::RawValue>,
}

fn main() {}
