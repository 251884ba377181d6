use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Login {
    /// The field `word` of `Login`.
    #[schema(pattern = "^(a|b)\\1$")]
    pub word: String,
}

fn main() {}
