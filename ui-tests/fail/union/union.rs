use tool_core::prelude::*;

#[derive(Clone, Copy, StrictSchema)]
pub union Bits {
    /// A whole number.
    pub whole: u32,
    /// A number with a fraction.
    pub fraction: f32,
}

fn main() {}
