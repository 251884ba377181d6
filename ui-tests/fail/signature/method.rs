use tool_core::prelude::*;

pub struct Greeter;

impl Greeter {
    /// Greets.
    #[tool]
    pub async fn greet(
        &self,
        /// Name.
        whom: String,
    ) -> Result<String, ToolError> {
        Ok(whom)
    }
}

fn main() {}
