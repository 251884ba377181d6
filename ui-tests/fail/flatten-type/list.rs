use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// The field `title` of `Page`.
    pub title: String,
    /// The field `lines` of `Page`.
    #[serde(flatten)]
    pub lines: Vec<String>,
}

fn main() {}
