use tool_core::prelude::*;

pub struct Greeter;

impl Greeter {
    const WORD: &'static str = "Hello";

    /// Greets.
    #[tool]
    pub fn greet(
        /// Name.
        whom: String,
    ) -> Result<String, ToolError> {
        Ok(format!("{} {whom}", Self::WORD))
    }
}

fn main() {}
