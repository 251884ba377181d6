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

/// Takes too many optional arguments.
#[tool]
pub fn ask(
    /// The argument `first` of the tool.
    first: Many,
    /// The argument `second` of the tool.
    second: Many,
    /// The argument `third` of the tool.
    third: Many,
) -> Result<(), ToolError> {
    drop((first, second, third));
    Ok(())
}

fn main() {}
