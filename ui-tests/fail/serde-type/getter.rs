use tool_core::prelude::*;

#[derive(StrictSchema)]
pub struct Size {
    /// The width of the shape.
    #[serde(getter = "width")]
    pub width: u32,
}

fn main() {}
