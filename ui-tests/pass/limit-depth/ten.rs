#![deny(warnings)]

use tool_core::prelude::*;

/// One further in.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nest<T> {
    /// Further in.
    pub inner: T,
}

/// The innermost.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Leaf {
    /// A name.
    pub name: String,
}

type Eight<T> = Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<T>>>>>>>>;

/// Digs as deep as is allowed: the arguments, eight nests and the leaf.
#[tool]
pub fn dig(
    /// Where to dig.
    here: Eight<Leaf>,
) -> Result<(), ToolError> {
    drop(here);
    Ok(())
}

fn main() {}
