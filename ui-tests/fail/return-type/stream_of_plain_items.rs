use futures::Stream;
use tool_core::prelude::*;

/// Counts all of the items.
#[tool]
pub fn count() -> impl Stream<Item = u32> {
    futures::stream::iter([1, 2, 3])
}

fn main() {}
