use tool_core::prelude::*;

/// The record `Args` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// The field `name` of `Args`.
    pub name: String,
}

/// Greets a person by name.
#[tool]
pub fn greet(#[args] one: Args, #[args] two: Args) -> Result<String, ToolError> {
    Ok(one.name + &two.name)
}

fn main() {}
