use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Value {
    /// A text.
    Text(String),
    /// A number.
    Number(f64),
}

fn main() {}
