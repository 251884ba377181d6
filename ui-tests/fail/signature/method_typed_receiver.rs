use tool_core::prelude::*;

use std::sync::Arc;

pub struct Greeter {
    word: String,
}

impl Greeter {
    /// Greets a person by name.
    #[tool]
    pub fn greet(
        self: Arc<Self>,
        /// The argument `whom` of the tool.
        whom: String,
    ) -> Result<String, ToolError> {
        Ok(format!("{} {whom}", self.word))
    }
}

fn main() {}
