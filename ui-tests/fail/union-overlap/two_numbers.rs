use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(untagged)]
#[schema(allow(untagged))]
pub enum Amount {
    /// The variant `Whole` of `Amount`.
    Whole(i64),
    /// The variant `Fraction` of `Amount`.
    Fraction(f64),
}

fn main() {}
