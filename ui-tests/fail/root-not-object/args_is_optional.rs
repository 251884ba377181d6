use tool_core::prelude::*;

/// The record `Args` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// The field `name` of `Args`.
    pub name: String,
}

/// Greets a person by name.
#[tool]
pub fn greet(#[args] args: Option<Args>) -> Result<String, ToolError> {
    Ok(args.map_or(String::new(), |args| args.name))
}

fn main() {}
