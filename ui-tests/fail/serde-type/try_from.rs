use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(try_from = "String")]
pub struct Colour {
    /// The field `rgb` of `Colour`.
    pub rgb: u32,
}

impl TryFrom<String> for Colour {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Ok(Self { rgb: text.parse()? })
    }
}

fn main() {}
