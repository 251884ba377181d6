#![deny(warnings)]

use tool_core::prelude::*;

/// A record that contains the next one.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nest<T> {
    /// The next record.
    pub inner: T,
}

/// The innermost record.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Leaf {
    /// The field `name` of `Leaf`.
    pub name: String,
}

type Eight<T> = Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<T>>>>>>>>;

/// Digs to the maximum depth: the arguments, eight nests and the leaf.
#[tool]
pub fn dig(
    /// The place to dig.
    here: Eight<Leaf>,
) -> Result<(), ToolError> {
    drop(here);
    Ok(())
}

fn main() {}
