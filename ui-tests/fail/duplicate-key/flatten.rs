use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// How many.
    pub limit: u8,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// How many.
    pub limit: u8,
    /// Which page.
    #[serde(flatten)]
    pub page: Page,
}

fn main() {}
