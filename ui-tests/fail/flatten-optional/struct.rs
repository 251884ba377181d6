use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// How many.
    pub limit: u8,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// Which page.
    #[serde(flatten)]
    pub page: Option<Page>,
}

fn main() {}
