use tool_core::prelude::*;

/// The record `Node` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Node {
    /// The field `name` of `Node`.
    pub name: String,
    /// The field `children` of `Node`.
    pub children: Vec<Node>,
}

/// Walks a tree, for this test.
#[tool(providers(openai, json_schema))]
pub fn walk(
    /// The argument `root` of the tool.
    root: Node,
) -> Result<usize, ToolError> {
    Ok(root.children.len())
}

fn main() {
    let tools = toolset![walk];
    assert!(tools.definitions(Dialect::OpenAi).contains("$ref"));
    assert_eq!(tools.definitions(Dialect::Anthropic), "[]");
}
