use std::error::Error;

use tool_core::prelude::*;

/// Reads the value and returns it.
#[tool]
pub fn read(
    /// The argument `path` of the tool.
    path: String,
) -> Result<String, Box<dyn Error>> {
    Ok(std::fs::read_to_string(path)?)
}

/// Reads the value, and returns an error that is a text.
#[tool]
pub fn read_again(
    /// The argument `path` of the tool.
    path: String,
) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| error.to_string())
}

fn main() {}
