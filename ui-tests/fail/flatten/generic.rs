use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page<T> {
    /// The field `title` of `Page`.
    pub title: String,
    /// The field `rest` of `Page`.
    #[serde(flatten)]
    pub rest: T,
}

fn main() {}
