use tool_core::prelude::*;

/// A filter with a mistake, which two tools take.
#[derive(Debug, StrictSchema)]
pub struct Filter {
    /// How many.
    #[schema(rang = 1..=5)]
    pub limit: u32,
}

/// Finds.
#[tool]
pub fn find(
    /// Which.
    filter: Filter,
) -> u32 {
    filter.limit
}

/// Counts.
#[tool]
pub fn count(
    /// Which.
    filters: Vec<Filter>,
) -> usize {
    filters.len()
}

fn main() {}
