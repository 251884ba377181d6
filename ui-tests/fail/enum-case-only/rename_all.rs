use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Step {
    /// Up.
    Up {
        /// How far.
        far: u8,
    },
    /// Up, loudly.
    UP {
        /// How far.
        far: u8,
    },
}

fn main() {}
