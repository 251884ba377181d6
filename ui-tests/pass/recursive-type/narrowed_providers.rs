use tool_core::prelude::*;

/// A node.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// What is below.
    pub children: Vec<Node>,
}

/// Walks a tree.
#[tool(providers(openai, json_schema))]
pub fn walk(
    /// The root.
    root: Node,
) -> Result<usize, ToolError> {
    Ok(root.children.len())
}

fn main() {
    let tools = toolset![walk];
    assert!(tools.definitions(Dialect::OpenAi).contains("$ref"));
    assert_eq!(tools.definitions(Dialect::Anthropic), "[]");
}
