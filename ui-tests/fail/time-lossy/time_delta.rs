use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Wait {
    /// The field `long` of `Wait`.
    pub long: chrono::TimeDelta,
}

fn main() {}
