use tool_core::prelude::*;

/// The record `Many` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Many {
    /// The field `a` of `Many`.
    pub a: Option<u8>,
    /// The field `b` of `Many`.
    pub b: Option<u8>,
    /// The field `c` of `Many`.
    pub c: Option<u8>,
    /// The field `d` of `Many`.
    pub d: Option<u8>,
    /// The field `e` of `Many`.
    pub e: Option<u8>,
    /// The field `f` of `Many`.
    pub f: Option<u8>,
    /// The field `g` of `Many`.
    pub g: Option<u8>,
    /// The field `h` of `Many`.
    pub h: Option<u8>,
    /// The field `i` of `Many`.
    pub i: Option<u8>,
}

/// The tool `one` of this test.
#[tool]
pub fn one(#[args] many: Many) -> Result<(), ToolError> {
    drop(many);
    Ok(())
}

/// The tool `two` of this test.
#[tool]
pub fn two(#[args] many: Many) -> Result<(), ToolError> {
    drop(many);
    Ok(())
}

/// The tool `three` of this test.
#[tool]
pub fn three(#[args] many: Many) -> Result<(), ToolError> {
    drop(many);
    Ok(())
}

fn main() {
    let _ = toolset![one, two, three];
}
