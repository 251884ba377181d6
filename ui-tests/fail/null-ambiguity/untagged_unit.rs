use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Key {
    /// The variant `Absent` of `Key`: none.
    Absent,
    /// The variant `Name` of `Key`: by name.
    Name(String),
}

fn main() {}
