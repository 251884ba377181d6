use tool_core::prelude::*;

/// The record `Both` of this test: either of two.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Both<A, B> {
    /// The field `left` of `Both`: the one.
    pub left: A,
    /// The field `right` of `Both`: the other.
    pub right: Vec<B>,
}

/// Takes both, for this test.
#[tool]
pub fn take(
    /// Two faults in one panic, a line each.
    both: Both<url::Url, (String, u8)>,
) -> Result<(), ToolError> {
    drop(both);
    Ok(())
}

fn main() {}
