use tool_core::prelude::*;

/// The record `Hit` of this test.
#[derive(Debug, StrictSchema)]
pub struct Hit {
    /// The field `title` of `Hit`.
    pub title: String,
}

/// Finds the pages that match.
#[tool]
pub fn find() -> Hit {
    Hit { title: String::new() }
}

fn main() {}
