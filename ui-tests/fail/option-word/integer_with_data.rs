use tool_core::prelude::*;

#[derive(Debug, StrictSchema)]
#[schema(integer)]
pub enum Level {
    Low(u8),
    High,
}

fn main() {}
