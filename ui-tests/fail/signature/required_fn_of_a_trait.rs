use tool_core::prelude::*;

pub trait Greets {
    /// Greets a person by name.
    #[tool]
    fn greet(
        &self,
        /// The argument `whom` of the tool.
        whom: String,
    ) -> Result<String, ToolError>;
}

fn main() {}
