use tool_core::prelude::*;

#[derive(StrictSchema)]
pub struct Size {
    /// Its width.
    #[serde(getter = "width")]
    pub width: u32,
}

fn main() {}
