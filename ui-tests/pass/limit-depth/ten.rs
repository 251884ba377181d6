#![deny(warnings)]

use tool_core::prelude::*;

/// The record `Nest` of this test: one further in.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nest<T> {
    /// The field `inner` of `Nest`: further in.
    pub inner: T,
}

/// The record `Leaf` of this test: the innermost.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Leaf {
    /// The field `name` of `Leaf`.
    pub name: String,
}

type Eight<T> = Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<T>>>>>>>>;

/// Digs as deep as is allowed: the arguments, eight nests and the leaf.
#[tool]
pub fn dig(
    /// The argument `here` of the tool: where to dig.
    here: Eight<Leaf>,
) -> Result<(), ToolError> {
    drop(here);
    Ok(())
}

fn main() {}
