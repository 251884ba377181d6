use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Query {
    /// The field `min_stars` of `Query`.
    pub min_stars: u8,
}

fn main() {}
