use tool_core::prelude::*;

/// The record `Args` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// The field `name` of `Args`.
    #[schema(length = 1..=5)]
    pub name: String,
}

/// Greets a person by name.
#[tool(example("Too long", { "name": "Wolfgang" }))]
pub fn greet(#[args] args: Args) -> Result<String, ToolError> {
    Ok(args.name)
}

fn main() {}
