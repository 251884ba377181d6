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

/// Digs.
#[tool]
pub fn dig(
    /// How often.
    often: u8,
    /// Where to dig.
    here: Vec<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Leaf>>>>>>>>>>,
) -> Result<usize, ToolError> {
    drop(often);
    Ok(here.len())
}

fn main() {}
