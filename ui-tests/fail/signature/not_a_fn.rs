use tool_core::prelude::*;

/// The record `Add` of this test.
#[tool]
pub struct Add;

fn main() {}
