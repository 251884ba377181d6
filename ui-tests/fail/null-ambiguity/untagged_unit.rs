use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Key {
    /// None.
    Absent,
    /// By name.
    Name(String),
}

fn main() {}
