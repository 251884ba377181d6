use tool_core::prelude::*;

/// Counts all of the items.
#[tool]
fn count(
    /// The argument `many` of the tool.
    #[arg(as = String)]
    many: u32,
) -> u32 {
    many
}

fn main() {}
