use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Login {
    /// A word.
    #[schema(pattern = "^(a|b$")]
    pub word: String,
}

fn main() {}
