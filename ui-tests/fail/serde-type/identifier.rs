use tool_core::prelude::*;

#[derive(StrictSchema)]
#[serde(field_identifier)]
pub enum Key {
    /// The width.
    Width,
    /// The height.
    Height,
}

fn main() {}
