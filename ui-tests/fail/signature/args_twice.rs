use tool_core::prelude::*;

/// Arguments.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// A name.
    pub name: String,
}

/// Greets.
#[tool]
pub fn greet(#[args] one: Args, #[args] two: Args) -> Result<String, ToolError> {
    Ok(one.name + &two.name)
}

fn main() {}
