use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Open {
    /// The field `when` of `Open`.
    pub when: std::time::SystemTime,
}

fn main() {}
