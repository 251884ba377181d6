use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nest<T> {
    /// The field `inner` of `Nest`.
    pub inner: T,
}

/// The record `Leaf` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Leaf {
    /// The field `name` of `Leaf`.
    pub name: String,
}

/// The record `Args` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// The field `here` of `Args`.
    pub here: Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Leaf>>>>>>>>>,
}

/// Digs down to the given depth.
#[tool]
pub fn dig(#[args] args: Args) -> Result<(), ToolError> {
    drop(args);
    Ok(())
}

fn main() {}
