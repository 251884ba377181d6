use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Step {
    /// The variant `Up` of `Step`.
    Up {
        /// The field `far` of `Up`.
        far: u8,
    },
    /// The variant `UP` of `Step`.
    UP {
        /// The field `far` of `UP`.
        far: u8,
    },
}

fn main() {}
