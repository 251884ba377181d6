use tool_core::prelude::*;

/// Too many choices.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Many {
    /// One.
    pub a: Option<u8>,
    /// One.
    pub b: Option<u8>,
    /// One.
    pub c: Option<u8>,
    /// One.
    pub d: Option<u8>,
    /// One.
    pub e: Option<u8>,
    /// One.
    pub f: Option<u8>,
    /// One.
    pub g: Option<u8>,
    /// One.
    pub h: Option<u8>,
    /// One.
    pub i: Option<u8>,
}

/// Asks for too much.
#[tool]
pub fn ask(
    /// First.
    first: Many,
    /// Second.
    second: Many,
    /// Third.
    third: Many,
) -> Result<(), ToolError> {
    drop((first, second, third));
    Ok(())
}

fn main() {}
