use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub enum Value {
    /// The variant `Pair` of `Value`.
    Pair(String, u8),
    /// The variant `Nothing` of `Value`.
    Nothing,
}

fn main() {}
