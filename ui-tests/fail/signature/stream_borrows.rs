use futures::Stream;
use tool_core::{StreamItem, prelude::*};

/// Counts all of the items.
#[tool]
pub fn count(cx: &ToolContext) -> impl Stream<Item = StreamItem<u32, String>> {
    let _ = cx;
    futures::stream::iter([StreamItem::Final("done".to_owned())])
}

fn main() {}
