use tool_core::prelude::*;

pub struct Host;

impl Host {
    /// Greets a person by name.
    #[tool]
    pub fn greet(&self) -> Result<(), ToolError> {
        Ok(())
    }
}

fn main() {}
