use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(try_from = "u8")]
#[schema(integer, as = String)]
pub enum Level {
    Low = 1,
    High = 2,
}

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(try_from = "String")]
#[schema(integer)]
pub enum Rank {
    Low = 1,
    High = 2,
}

impl TryFrom<u8> for Level {
    type Error = String;
    fn try_from(_: u8) -> Result<Self, String> {
        Ok(Self::Low)
    }
}

impl TryFrom<String> for Rank {
    type Error = String;
    fn try_from(_: String) -> Result<Self, String> {
        Ok(Self::Low)
    }
}

fn main() {}
