mod tools {
    use tool_core::prelude::*;

    /// Echoes.
    #[tool]
    pub(crate) fn echo(
        /// What.
        text: String,
    ) -> Result<String, ToolError> {
        Ok(text)
    }

    /// Echoes, privately.
    #[tool]
    fn whisper(
        /// What.
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
