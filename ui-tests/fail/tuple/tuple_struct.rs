use tool_core::prelude::*;

/// A pair.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Pair(String, u8);

fn main() {}
