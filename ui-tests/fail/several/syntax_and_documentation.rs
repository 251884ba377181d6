use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Hooks {
    pub call_back: String,
    /// The field `many` of `Hooks`.
    #[schema(rnage = 1..=5, defualt = 3)]
    pub many: u32,
    /// The field `which` of `Hooks`.
    #[serde(with = "hex")]
    pub which: u32,
}

mod hex {
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
        serde::Deserialize::deserialize(input)
    }
}

fn main() {}
