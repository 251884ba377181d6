use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Key {
    /// By id.
    Id(uuid::Uuid),
    /// By name.
    Name(String),
}

fn main() {}
