use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Wait {
    /// How long.
    pub long: chrono::TimeDelta,
}

fn main() {}
