use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Amount {
    /// Whole.
    Whole(i64),
    /// With a fraction.
    Fraction(f64),
}

fn main() {}
