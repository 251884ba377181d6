use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Its lines.
    #[serde(flatten)]
    pub lines: Vec<String>,
}

fn main() {}
