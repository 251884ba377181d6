use tool_core::prelude::*;

/// Adds.
#[tool]
pub struct Add;

fn main() {}
