use tool_core::prelude::*;

/// Arguments.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// A name.
    #[schema(length = 1..=5)]
    pub name: String,
}

/// Greets.
#[tool(example("Too long", { "name": "Wolfgang" }))]
pub fn greet(#[args] args: Args) -> Result<String, ToolError> {
    Ok(args.name)
}

fn main() {}
