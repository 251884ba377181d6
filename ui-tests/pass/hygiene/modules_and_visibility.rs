mod tools {
    use tool_core::prelude::*;

    /// Returns the argument to the caller.
    #[tool]
    pub(crate) fn echo(
        /// The argument `text` of the tool.
        text: String,
    ) -> Result<String, ToolError> {
        Ok(text)
    }

    /// Echoes, privately, for this test.
    #[tool]
    fn whisper(
        /// The argument `text` of the tool.
        text: String,
    ) -> Result<String, ToolError> {
        echo(text)
    }
}

use tool_core::prelude::*;
use tools::echo;

fn main() {
    let _ = toolset![echo];
    assert_eq!(Registry::linked().unwrap().open().names().count(), 2);
}
