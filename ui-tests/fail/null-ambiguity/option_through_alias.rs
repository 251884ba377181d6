use tool_core::prelude::*;

type Maybe = Option<String>;

/// Renames.
#[tool]
pub fn rename(
    /// A new name.
    name: Option<Box<Maybe>>,
) -> Result<(), ToolError> {
    drop(name);
    Ok(())
}

fn main() {}
