use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Everything else.
    #[serde(flatten)]
    pub rest: serde_json::Value,
}

fn main() {}
