use tool_core::prelude::*;

/// A hit.
#[derive(Debug, StrictSchema)]
pub struct Hit {
    /// Its title.
    pub title: String,
}

/// Finds.
#[tool]
pub fn find() -> Hit {
    Hit { title: String::new() }
}

fn main() {}
