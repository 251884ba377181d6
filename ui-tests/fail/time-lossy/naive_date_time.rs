use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Open {
    /// The field `when` of `Open`.
    pub when: chrono::NaiveDateTime,
}

fn main() {}
