use tool_core::prelude::*;

mod hex {
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(input: D) -> Result<u32, D::Error> {
        let text: String = serde::Deserialize::deserialize(input)?;
        u32::from_str_radix(&text, 16).map_err(serde::de::Error::custom)
    }
}

/// The record `Colour` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Colour {
    /// The values of red, green and blue.
    #[serde(deserialize_with = "hex::deserialize")]
    #[schema(as = String, pattern = "^[0-9a-f]{6}$")]
    pub rgb: u32,
}

/// Paints a surface in a colour.
#[tool(example("Red", { "colour": { "rgb": "ff0000" } }))]
pub fn paint(
    /// The argument `colour` of the tool.
    colour: Colour,
) -> Result<u32, ToolError> {
    Ok(colour.rgb)
}

fn main() {}
