use tool_core::prelude::*;

pub trait Greets {
    /// Greets a person by name.
    #[tool]
    fn greet(
        /// The argument `whom` of the tool.
        whom: String,
    ) -> Result<String, ToolError> {
        Ok(whom)
    }
}

fn main() {}
