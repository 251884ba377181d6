use tool_core::prelude::*;

mod hex {
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
        serde::Deserialize::deserialize(input)
    }
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Colour {
    /// The field `rgb` of `Colour`.
    #[serde(deserialize_with = "hex::deserialize")]
    pub rgb: u32,
}

fn main() {}
