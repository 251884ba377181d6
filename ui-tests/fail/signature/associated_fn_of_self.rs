use tool_core::prelude::*;

pub struct Greeter;

impl Greeter {
    const WORD: &'static str = "Hello";

    /// Greets a person by name.
    #[tool]
    pub fn greet(
        /// The argument `whom` of the tool.
        whom: String,
    ) -> Result<String, ToolError> {
        Ok(format!("{} {whom}", Self::WORD))
    }
}

fn main() {}
