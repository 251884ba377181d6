use tool_core::prelude::*;

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Nest<T> {
    /// The field `inner` of `Nest`.
    pub inner: T,
}

#[derive(Debug, Deserialize, StrictSchema)]
pub struct Leaf {
    /// The field `name` of `Leaf`.
    pub name: String,
}

type Deep = Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Nest<Leaf>>>>>>>>>;

/// Digs down to the given depth.
#[tool]
pub fn dig(
    /// The argument `here` of the tool.
    here: Deep,
) -> Result<(), ToolError> {
    drop(here);
    Ok(())
}

fn main() {}
