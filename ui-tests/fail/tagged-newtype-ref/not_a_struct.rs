use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Value {
    /// The variant `Text` of `Value`.
    Text(String),
    /// The variant `Number` of `Value`.
    Number(f64),
}

fn main() {}
