use tool_core::prelude::*;

/// The record `Args` of this test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, StrictSchema)]
pub struct Args {
    /// The field `name` of `Args`.
    pub name: String,
    /// The field `often` of `Args`.
    #[schema(default = 1)]
    pub often: u8,
}

/// Greets a person by name.
#[tool(example("Ada", { "name": "Ada" }))]
pub fn greet(#[args] args: Args) -> Result<String, ToolError> {
    Ok(args.name.repeat(args.often.into()))
}

fn main() {
    let tools = toolset![greet];
    assert!(tools.get("greet").unwrap().schema(Dialect::Mcp).contains(r#""name":{"#));
}
