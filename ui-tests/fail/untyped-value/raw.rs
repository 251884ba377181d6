use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Record {
    /// The field `payload` of `Record`.
    pub payload: Box<serde_json::value::RawValue>,
}

fn main() {}
