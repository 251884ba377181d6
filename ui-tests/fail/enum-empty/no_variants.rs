use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub enum Nothing {}

fn main() {}
