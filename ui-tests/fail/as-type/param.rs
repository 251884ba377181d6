use tool_core::prelude::*;

/// Counts.
#[tool]
fn count(
    /// How many.
    #[arg(as = String)]
    many: u32,
) -> u32 {
    many
}

fn main() {}
