use tool_core::prelude::*;

use std::collections::HashMap;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// Its title.
    pub title: String,
    /// Everything else.
    #[serde(flatten)]
    pub rest: HashMap<String, String>,
}

fn main() {}
