use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Day {
    /// The field `day` of `Day`.
    #[schema(format = "date", pattern = "^2026")]
    pub day: String,
}

fn main() {}
