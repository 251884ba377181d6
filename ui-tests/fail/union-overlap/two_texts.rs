use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Key {
    /// The variant `Id` of `Key`.
    Id(uuid::Uuid),
    /// The variant `Name` of `Key`.
    Name(String),
}

fn main() {}
