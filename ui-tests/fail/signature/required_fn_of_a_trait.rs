use tool_core::prelude::*;

pub trait Greets {
    /// Greets.
    #[tool]
    fn greet(
        &self,
        /// Name.
        whom: String,
    ) -> Result<String, ToolError>;
}

fn main() {}
