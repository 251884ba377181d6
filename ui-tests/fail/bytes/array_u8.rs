use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Upload {
    /// The field `hash` of `Upload`.
    pub hash: [u8; 32],
}

fn main() {}
