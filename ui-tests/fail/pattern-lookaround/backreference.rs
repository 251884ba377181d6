use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Login {
    /// A word.
    #[schema(pattern = "^(a|b)\\1$")]
    pub word: String,
}

fn main() {}
