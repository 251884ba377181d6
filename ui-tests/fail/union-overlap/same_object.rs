use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Place {
    /// By name.
    Name {
        /// Its name.
        name: String,
    },
    /// By name, and where.
    Near {
        /// Its name.
        name: String,
        /// Its country.
        country: Option<String>,
    },
}

fn main() {}
