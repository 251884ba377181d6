use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nest<T> {
    /// Further in.
    pub inner: T,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Leaf {
    /// A name.
    pub name: String,
}

type Deep = Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Leaf>>>>>>>>>;

/// Digs.
#[tool]
pub fn dig(
    /// Where to dig.
    here: Deep,
) -> Result<(), ToolError> {
    drop(here);
    Ok(())
}

fn main() {}
