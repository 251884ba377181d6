use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub enum Lang {
    Rust,
    Go,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize, StrictSchema)]
#[serde(tag = "kind")]
pub enum Shape {
    Circle {
        /// The field `radius` of `Circle`.
        radius: f64,
    },
    #[serde(other)]
    Other,
}

fn main() {}
