use tool_core::prelude::*;

/// A node.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Node<T> {
    /// What it holds.
    pub value: T,
    /// What is below.
    pub children: Vec<Node<T>>,
}

fn main() {}
