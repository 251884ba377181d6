#![deny(warnings)]

use tool_core::prelude::*;

/// A record with many optional fields.
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
}

/// Takes as many optional arguments as are allowed without a warning.
#[tool]
pub fn ask(
    /// The argument `first` of the tool.
    first: Many,
    /// The argument `second` of the tool.
    second: Many,
) -> Result<(), ToolError> {
    drop((first, second));
    Ok(())
}

/// Takes more than ten optional arguments, for providers that have no such limit.
#[tool(providers(openai, gemini, mcp, json_schema))]
pub fn ask_others(
    /// The argument `first` of the tool.
    first: Many,
    /// The argument `second` of the tool.
    second: Many,
    /// The argument `third` of the tool.
    third: Option<Many>,
) -> Result<(), ToolError> {
    drop((first, second, third));
    Ok(())
}

fn main() {}
