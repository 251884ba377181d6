use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Query {
    /// Fewest stars.
    pub min_stars: u8,
}

fn main() {}
