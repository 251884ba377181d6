use tool_core::prelude::*;

pub trait Greets {
    /// Greets.
    #[tool]
    fn greet(
        /// Whom.
        whom: String,
    ) -> Result<String, ToolError> {
        Ok(whom)
    }
}

fn main() {}
