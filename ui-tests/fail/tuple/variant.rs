use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub enum Value {
    /// A pair.
    Pair(String, u8),
    /// Nothing.
    Nothing,
}

fn main() {}
