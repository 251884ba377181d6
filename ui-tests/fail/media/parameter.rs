use tool_core::prelude::*;
use tool_core::Image;

/// Describes an image, for this test.
#[tool]
pub fn describe(
    /// The argument `image` of the tool.
    image: Image,
) -> String {
    format!("{image:?}")
}

fn main() {}
