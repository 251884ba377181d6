use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Login {
    /// A word.
    #[schema(pattern = "^(?=.*[0-9]).+$")]
    pub word: String,
}

fn main() {}
