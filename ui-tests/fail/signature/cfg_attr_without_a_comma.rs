use tool_core::prelude::*;

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The name of the person.
    #[cfg_attr(any())]
    name: String,
) -> Result<String, ToolError> {
    Ok(name)
}

fn main() {}
