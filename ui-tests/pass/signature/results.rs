use tool_core::prelude::*;

use std::num::ParseIntError;

/// Parses.
#[tool]
pub fn parse(
    /// Digits.
    text: String,
) -> Result<i32, ParseIntError> {
    text.parse()
}

/// Tells.
#[tool]
pub fn tell() -> String {
    "hello".to_owned()
}

/// Lists.
#[tool]
pub async fn list() -> Vec<u8> {
    vec![1]
}

/// Does.
#[tool]
pub fn act() {}

type Outcome<T> = Result<T, ToolError>;

/// Through an alias.
#[tool]
pub fn aliased() -> Outcome<bool> {
    Ok(true)
}

/// Of a type of its own.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// Its title.
    pub title: String,
}

/// Finds.
#[tool]
pub fn find() -> Hit {
    Hit { title: "one".to_owned() }
}

fn main() {}
