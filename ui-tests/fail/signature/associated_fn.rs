use tool_core::prelude::*;

pub struct Greeter;

impl Greeter {
    /// Greets a person by name.
    #[tool]
    pub fn greet(
        /// The argument `whom` of the tool.
        whom: String,
    ) -> Result<String, ToolError> {
        Ok(whom)
    }
}

fn main() {}
