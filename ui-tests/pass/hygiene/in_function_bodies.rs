use tool_core::prelude::*;

fn main() {
    /// The enum `Lang` of this test.
    #[derive(Debug, Deserialize, StrictSchema)]
    enum Lang {
        Rust,
        Go,
    }

    /// Returns the argument to the caller.
    #[tool]
    fn echo(
        /// The argument `lang` of the tool.
        lang: Lang,
    ) -> Result<String, ToolError> {
        Ok(format!("{lang:?}"))
    }

    let _ = toolset![echo];
}
