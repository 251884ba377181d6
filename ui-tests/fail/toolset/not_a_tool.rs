use tool_core::prelude::*;

/// No tool.
pub struct Plain;

fn main() {
    let _ = toolset![Plain];
}
