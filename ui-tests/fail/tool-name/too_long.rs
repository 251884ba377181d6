use tool_core::prelude::*;

/// Greets a person by name.
#[tool(name = "a_name_that_goes_on_and_on_until_it_is_longer_than_sixty_four_letters")]
pub fn greet() -> Result<(), ToolError> {
    Ok(())
}

fn main() {}
