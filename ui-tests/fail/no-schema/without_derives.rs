use tool_core::prelude::*;

/// A type without a schema.
pub struct Plain {
    /// The field `name` of `Plain`.
    pub name: String,
}

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: Option<Plain>,
    /// The argument `other` of the tool.
    other: Plain,
) -> Result<String, ToolError> {
    Ok(format!("{} {}", other.name, whom.map_or_else(String::new, |whom| whom.name)))
}

fn main() {}
