use tool_core::prelude::*;

/// Arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct Args {
    /// A name.
    pub name: String,
    /// How often.
    #[schema(default = 1)]
    pub often: u8,
}

/// Greets.
#[tool(example("Ada", { "name": "Ada" }))]
pub fn greet(#[args] args: Args) -> Result<String, ToolError> {
    Ok(args.name.repeat(args.often.into()))
}

fn main() {
    let tools = toolset![greet];
    assert!(tools.get("greet").unwrap().schema(Dialect::Mcp).contains(r#""name":{"#));
}
