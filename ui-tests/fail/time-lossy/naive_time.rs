use tool_core::prelude::*;

/// The tool `wake` of this test.
#[tool]
pub fn wake(
    /// The argument `when` of the tool.
    when: chrono::NaiveTime,
) -> Result<(), ToolError> {
    let _ = when;
    Ok(())
}

fn main() {}
