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

/// Digs down to the given depth.
#[tool]
pub fn dig(
    /// The argument `often` of the tool.
    often: u8,
    /// The argument `here` of the tool.
    here: Vec<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Leaf>>>>>>>>>>,
) -> Result<usize, ToolError> {
    drop(often);
    Ok(here.len())
}

fn main() {}
