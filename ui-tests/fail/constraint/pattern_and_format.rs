use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Day {
    /// A day.
    #[schema(format = "date", pattern = "^2026")]
    pub day: String,
}

fn main() {}
