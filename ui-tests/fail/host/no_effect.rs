use tool_core::prelude::*;

/// An index.
#[derive(Clone)]
pub struct Index;

impl FromContext for Index {
    fn from_context(_: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
