use tool_core::prelude::*;

/// A type of the host.
pub struct Plain {
    /// A name.
    pub name: String,
}

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: Option<Plain>,
    /// The second name.
    other: Plain,
) -> Result<String, ToolError> {
    Ok(format!("{} {}", other.name, whom.map_or_else(String::new, |whom| whom.name)))
}

fn main() {}
