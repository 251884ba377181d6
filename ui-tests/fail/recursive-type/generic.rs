use tool_core::prelude::*;

/// The record `Node` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Node<T> {
    /// The field `value` of `Node`.
    pub value: T,
    /// The field `children` of `Node`.
    pub children: Vec<Node<T>>,
}

fn main() {}
