use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Login {
    /// The field `word` of `Login`.
    #[schema(pattern = "^(?=.*[0-9]).+$")]
    pub word: String,
}

fn main() {}
