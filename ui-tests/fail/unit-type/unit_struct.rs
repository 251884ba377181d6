use tool_core::prelude::*;

/// The record `Nothing` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nothing;

fn main() {}
