use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Place {
    /// By name.
    Name {
        /// Its name.
        name: String,
    },
    /// By number.
    #[serde(untagged)]
    Number {
        /// Its number.
        number: u32,
    },
}

fn main() {}
