use tool_core::prelude::*;

/// Arguments.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// A name.
    pub name: String,
}

/// Greets.
#[tool]
pub fn greet(#[args] args: Option<Args>) -> Result<String, ToolError> {
    Ok(args.map_or(String::new(), |args| args.name))
}

fn main() {}
