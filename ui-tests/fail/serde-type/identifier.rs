use tool_core::prelude::*;

#[derive(StrictSchema)]
#[serde(field_identifier)]
pub enum Key {
    /// The variant `Width` of `Key`.
    Width,
    /// The variant `Height` of `Key`.
    Height,
}

fn main() {}
