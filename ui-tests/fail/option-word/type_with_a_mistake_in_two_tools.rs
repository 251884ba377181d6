use tool_core::prelude::*;

/// A filter with a mistake. Two tools take a filter.
#[derive(Debug, StrictSchema)]
pub struct Filter {
    /// The field `limit` of `Filter`.
    #[schema(rang = 1..=5)]
    pub limit: u32,
}

/// Finds the pages that match.
#[tool]
pub fn find(
    /// The argument `filter` of the tool.
    filter: Filter,
) -> u32 {
    filter.limit
}

/// Counts all of the items.
#[tool]
pub fn count(
    /// The argument `filters` of the tool.
    filters: Vec<Filter>,
) -> usize {
    filters.len()
}

fn main() {}
