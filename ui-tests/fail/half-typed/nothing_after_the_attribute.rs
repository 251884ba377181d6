use tool_core::prelude::*;

fn main() {}

/// Greets.
#[tool]
