use tool_core::prelude::*;

/// A number as text.
#[derive(StrictSchema)]
#[schema(as = String, deserialize)]
pub struct Number(pub u32);

/// Takes a number, for this test.
#[tool(read_only)]
pub async fn take(
    /// The argument `number` of the tool.
    number: Number,
) -> u32 {
    number.0
}

fn main() {}
