use tool_core::prelude::*;

/// Nothing.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nothing;

fn main() {}
