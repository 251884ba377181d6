#![deny(warnings)]

use tool_core::prelude::*;

/// Many choices.
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
}

/// Asks for much.
#[tool(allow(limit-optional))]
pub fn ask(
    /// First.
    first: Many,
    /// Second.
    second: Many,
) -> Result<(), ToolError> {
    drop((first, second));
    Ok(())
}

fn main() {}
