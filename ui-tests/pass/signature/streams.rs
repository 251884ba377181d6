use futures::Stream;
use tool_core::{StreamItem, prelude::*};

/// Counts all of the items.
#[tool]
pub fn count() -> ToolStream<u32, String> {
    tool_stream! {
        for i in 0..3 {
            yield i;
        }
        let text: String = serde_json::from_str("\"done\"")?;
        text
    }
}

/// Counts as well, for this test.
#[tool]
pub fn plain() -> impl Stream<Item = StreamItem<u32, String>> {
    futures::stream::iter([StreamItem::Progress(1), StreamItem::Final("done".to_owned())])
}

fn main() {}
