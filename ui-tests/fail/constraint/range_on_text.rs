use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// What.
    #[schema(range = 1..=5)]
    pub text: String,
}

fn main() {}
