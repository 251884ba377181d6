use tool_core::prelude::*;

#[derive(Debug, Serialize, Deserialize, StrictSchema)]
#[serde(tag = "type")]
pub struct Colour {
    /// The field `rgb` of `Colour`.
    pub rgb: u32,
}

fn main() {}
