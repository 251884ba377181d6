use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Upload {
    /// The file.
    pub content: Vec<u8>,
}

fn main() {}
