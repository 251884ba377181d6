use tool_core::prelude::*;

/// Either of two.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Both<A, B> {
    /// The one.
    pub left: A,
    /// The other.
    pub right: Vec<B>,
}

/// Takes both.
#[tool]
pub fn take(
    /// Two faults in one panic, a line each.
    both: Both<url::Url, (String, u8)>,
) -> Result<(), ToolError> {
    drop(both);
    Ok(())
}

fn main() {}
