use tool_core::prelude::*;

#[derive(Clone, Copy, StrictSchema)]
pub union Bits {
    /// Whole.
    pub whole: u32,
    /// With a fraction.
    pub fraction: f32,
}

fn main() {}
