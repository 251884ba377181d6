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
#[tool]
pub fn walk(
    /// The root.
    root: Node,
) -> Result<usize, ToolError> {
    Ok(root.children.len())
}

fn main() {}
