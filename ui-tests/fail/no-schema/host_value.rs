use tool_core::prelude::*;

use tool_core::{Effect, host_value};

#[derive(Clone)]
pub struct Tracker;
host_value!(Tracker, Effect::READ);

/// Tracks.
#[tool]
pub fn track(
    /// Where to look.
    tracker: Tracker,
) -> Result<(), ToolError> {
    drop(tracker);
    Ok(())
}

fn main() {}
