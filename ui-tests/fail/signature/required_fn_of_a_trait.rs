use tool_core::prelude::*;

pub trait Greets {
    /// Greets.
    #[tool]
    fn greet(
        &self,
        /// Whom.
        whom: String,
    ) -> Result<String, ToolError>;
}

fn main() {}
