use tool_core::prelude::*;

use tool_core::{Effect, host_value};

#[derive(Clone)]
pub struct Tracker;
host_value!(Tracker, Effect::READ);

/// The tool `track` of this test.
#[tool]
pub fn track(
    /// The argument `tracker` of the tool.
    tracker: Tracker,
) -> Result<(), ToolError> {
    drop(tracker);
    Ok(())
}

fn main() {}
