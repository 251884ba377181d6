use tool_core::prelude::*;

/// The record `Index` of this test.
#[derive(Clone)]
pub struct Index;

impl FromContext for Index {
    fn from_context(_: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self)
    }
}

fn main() {}
