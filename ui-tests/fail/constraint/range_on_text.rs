use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `text` of `Query`.
    #[schema(range = 1..=5)]
    pub text: String,
}

fn main() {}
