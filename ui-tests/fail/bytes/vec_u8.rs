use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Upload {
    /// The field `content` of `Upload`.
    pub content: Vec<u8>,
}

fn main() {}
