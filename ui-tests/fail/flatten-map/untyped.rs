use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// The field `title` of `Page`.
    pub title: String,
    /// The field `rest` of `Page`.
    #[serde(flatten)]
    pub rest: serde_json::Value,
}

fn main() {}
