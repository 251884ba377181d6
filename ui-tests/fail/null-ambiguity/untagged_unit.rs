use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Key {
    /// The variant `Absent` of `Key`.
    Absent,
    /// The variant `Name` of `Key`.
    Name(String),
}

fn main() {}
