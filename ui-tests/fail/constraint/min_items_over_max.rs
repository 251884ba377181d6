use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `words` of `Query`.
    #[schema(min_items = 5, max_items = 2)]
    pub words: Vec<String>,
}

fn main() {}
