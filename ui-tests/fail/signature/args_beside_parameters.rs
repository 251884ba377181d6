use tool_core::prelude::*;

/// The record `Args` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// The field `name` of `Args`.
    pub name: String,
}

/// Greets a person by name.
#[tool]
pub fn greet(
    #[args] args: Args,
    /// The argument `often` of the tool.
    often: u8,
) -> Result<String, ToolError> {
    Ok(args.name.repeat(often.into()))
}

fn main() {}
