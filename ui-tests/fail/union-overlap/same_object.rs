use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Place {
    /// The variant `Name` of `Place`.
    Name {
        /// The field `name` of `Name`.
        name: String,
    },
    /// A place near a named place.
    Near {
        /// The field `name` of `Near`.
        name: String,
        /// The field `country` of `Near`.
        country: Option<String>,
    },
}

fn main() {}
