use tool_core::prelude::*;

use std::sync::Arc;

pub struct Greeter {
    word: String,
}

impl Greeter {
    /// Greets.
    #[tool]
    pub fn greet(
        self: Arc<Self>,
        /// Name.
        whom: String,
    ) -> Result<String, ToolError> {
        Ok(format!("{} {whom}", self.word))
    }
}

fn main() {}
