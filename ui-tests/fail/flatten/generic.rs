use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page<T> {
    /// Its title.
    pub title: String,
    /// What else.
    #[serde(flatten)]
    pub rest: T,
}

fn main() {}
