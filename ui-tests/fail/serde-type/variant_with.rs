use tool_core::prelude::*;

mod hex {
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
        serde::Deserialize::deserialize(input)
    }
}

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind", content = "value")]
pub enum Colour {
    /// The variant `Number` of `Colour`.
    #[serde(deserialize_with = "hex::deserialize")]
    Number(u32),
    /// The variant `Name` of `Colour`.
    Name(String),
}

fn main() {}
