use tool_core::prelude::*;

/// Calls back.
#[tool]
pub fn call_back(
    /// Where to call.
    #[arg(format = "uri")]
    callback: String,
) -> Result<(), ToolError> {
    drop(callback);
    Ok(())
}

fn main() {}
