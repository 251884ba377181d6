use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", content = "value")]
pub enum Key {
    /// The variant `Number` of `Key`.
    Number(u32),
    /// The variant `Name` of `Key`.
    Name(Option<String>),
}

fn main() {}
