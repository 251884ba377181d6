use tool_core::prelude::*;

type Maybe = Option<String>;

/// The tool `rename` of this test.
#[tool]
pub fn rename(
    /// The argument `name` of the tool.
    name: Option<Box<Maybe>>,
) -> Result<(), ToolError> {
    drop(name);
    Ok(())
}

fn main() {}
