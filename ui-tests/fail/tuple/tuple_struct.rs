use tool_core::prelude::*;

/// The record `Pair` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Pair(String, u8);

fn main() {}
