use tool_core::prelude::*;
use tool_core::Image;

/// Describes an image.
#[tool]
pub fn describe(
    /// The image.
    image: Image,
) -> String {
    format!("{image:?}")
}

fn main() {}
