use tool_core::prelude::*;

/// A type of the host.
#[derive(Debug, Deserialize)]
pub struct Plain {
    /// A name.
    pub name: String,
}

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: ui_foreign::Page<Plain>,
) -> Result<usize, ToolError> {
    Ok(whom.items.len())
}

fn main() {}
