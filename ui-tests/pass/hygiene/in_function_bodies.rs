use tool_core::prelude::*;

fn main() {
    /// A language.
    #[derive(Debug, Deserialize, StrictSchema)]
    enum Lang {
        Rust,
        Go,
    }

    /// Echoes.
    #[tool]
    fn echo(
        /// A language.
        lang: Lang,
    ) -> Result<String, ToolError> {
        Ok(format!("{lang:?}"))
    }

    let _ = toolset![echo];
}
