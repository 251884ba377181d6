use tool_core::prelude::*;

/// The record `Both` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Both<A, B> {
    /// The field `left` of `Both`.
    pub left: A,
    /// The field `right` of `Both`.
    pub right: Vec<B>,
}

/// Takes two values, for this test.
#[tool]
pub fn take(
    /// An argument with two faults, which one panic reports on two lines.
    both: Both<url::Url, (String, u8)>,
) -> Result<(), ToolError> {
    drop(both);
    Ok(())
}

fn main() {}
