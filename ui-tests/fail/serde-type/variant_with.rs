use tool_core::prelude::*;

mod hex {
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
        serde::Deserialize::deserialize(input)
    }
}

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", content = "value")]
pub enum Colour {
    /// By number.
    #[serde(deserialize_with = "hex::deserialize")]
    Number(u32),
    /// By name.
    Name(String),
}

fn main() {}
