use tool_core::prelude::*;

/// Calls back, for this test.
#[tool]
pub fn call_back(
    /// The argument `callback` of the tool.
    #[arg(format = "uri")]
    callback: String,
) -> Result<(), ToolError> {
    drop(callback);
    Ok(())
}

fn main() {}
