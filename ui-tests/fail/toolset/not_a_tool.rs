use tool_core::prelude::*;

/// The record `Plain` of this test.
pub struct Plain;

fn main() {
    let _ = toolset![Plain];
}
