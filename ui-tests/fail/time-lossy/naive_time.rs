use tool_core::prelude::*;

/// Wakes.
#[tool]
pub fn wake(
    /// When.
    when: chrono::NaiveTime,
) -> Result<(), ToolError> {
    let _ = when;
    Ok(())
}

fn main() {}
