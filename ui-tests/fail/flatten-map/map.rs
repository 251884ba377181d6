use tool_core::prelude::*;

use std::collections::HashMap;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// The field `title` of `Page`.
    pub title: String,
    /// The field `rest` of `Page`.
    #[serde(flatten)]
    pub rest: HashMap<String, String>,
}

fn main() {}
