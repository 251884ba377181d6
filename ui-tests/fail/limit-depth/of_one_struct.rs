use tool_core::prelude::*;

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

/// All arguments.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Args {
    /// Where to dig.
    pub here: Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Leaf>>>>>>>>>,
}

/// Digs.
#[tool]
pub fn dig(#[args] args: Args) -> Result<(), ToolError> {
    drop(args);
    Ok(())
}

fn main() {}
