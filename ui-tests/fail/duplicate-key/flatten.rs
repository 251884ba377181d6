use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Page {
    /// The field `limit` of `Page`.
    pub limit: u8,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Query {
    /// The field `limit` of `Query`.
    pub limit: u8,
    /// The field `page` of `Query`.
    #[serde(flatten)]
    pub page: Page,
}

fn main() {}
