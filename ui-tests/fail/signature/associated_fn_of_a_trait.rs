use tool_core::prelude::*;

pub trait Greets {
    /// Greets.
    #[tool]
    fn greet(
        /// Name.
        whom: String,
    ) -> Result<String, ToolError> {
        Ok(whom)
    }
}

fn main() {}
