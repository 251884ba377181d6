use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(from = "String")]
pub struct Name {
    /// The field `text` of `Name`.
    pub text: String,
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self { text }
    }
}

fn main() {}
