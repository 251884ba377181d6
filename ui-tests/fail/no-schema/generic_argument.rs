use tool_core::prelude::*;

/// A type without a schema.
#[derive(Debug, Deserialize)]
pub struct Plain {
    /// The field `name` of `Plain`.
    pub name: String,
}

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: ui_foreign::Page<Plain>,
) -> Result<usize, ToolError> {
    Ok(whom.items.len())
}

fn main() {}
