use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", content = "value")]
pub enum Key {
    /// A number.
    Number(u32),
    /// Perhaps a name.
    Name(Option<String>),
}

fn main() {}
