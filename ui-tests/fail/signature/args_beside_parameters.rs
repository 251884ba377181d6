use tool_core::prelude::*;

/// Arguments.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// A name.
    pub name: String,
}

/// Greets.
#[tool]
pub fn greet(
    #[args] args: Args,
    /// How often.
    often: u8,
) -> Result<String, ToolError> {
    Ok(args.name.repeat(often.into()))
}

fn main() {}
