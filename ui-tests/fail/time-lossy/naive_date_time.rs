use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Open {
    /// When.
    pub when: chrono::NaiveDateTime,
}

fn main() {}
