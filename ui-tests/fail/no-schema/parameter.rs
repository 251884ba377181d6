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
    whom: Plain,
) -> Result<String, ToolError> {
    Ok(whom.name)
}

fn main() {}
