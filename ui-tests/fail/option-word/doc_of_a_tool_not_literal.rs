use tool_core::prelude::*;

#[doc = concat!("Greets", " you.")]
#[tool]
pub fn greet(
    #[doc = concat!("Whom", " to greet.")]
    whom: String,
) -> Result<String, ToolError> {
    Ok(whom)
}

fn main() {}
