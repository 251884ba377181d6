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
}

/// Asks for as much as goes without a warning.
#[tool]
pub fn ask(
    /// First.
    first: Many,
    /// Second.
    second: Many,
) -> Result<(), ToolError> {
    drop((first, second));
    Ok(())
}

/// More than ten, for providers that do not count them.
#[tool(providers(openai, gemini, mcp, json_schema))]
pub fn ask_others(
    /// First.
    first: Many,
    /// Second.
    second: Many,
    /// Third.
    third: Option<Many>,
) -> Result<(), ToolError> {
    drop((first, second, third));
    Ok(())
}

fn main() {}
