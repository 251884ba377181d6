use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Open {
    /// When.
    pub when: std::time::SystemTime,
}

fn main() {}
