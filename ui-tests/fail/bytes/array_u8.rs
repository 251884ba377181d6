use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Upload {
    /// Its hash.
    pub hash: [u8; 32],
}

fn main() {}
