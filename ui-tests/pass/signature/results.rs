use tool_core::prelude::*;

use std::num::ParseIntError;

/// The tool `parse` of this test.
#[tool]
pub fn parse(
    /// A text of digits.
    text: String,
) -> Result<i32, ParseIntError> {
    text.parse()
}

/// The tool `tell` of this test.
#[tool]
pub fn tell() -> String {
    "hello".to_owned()
}

/// Lists all of the entries.
#[tool]
pub async fn list() -> Vec<u8> {
    vec![1]
}

/// The tool `act` of this test.
#[tool]
pub fn act() {}

type Outcome<T> = Result<T, ToolError>;

/// Returns a result through a type alias.
#[tool]
pub fn aliased() -> Outcome<bool> {
    Ok(true)
}

/// A hit of the search.
#[derive(Debug, Serialize, StrictSchema)]
pub struct Hit {
    /// The field `title` of `Hit`.
    pub title: String,
}

/// Finds the pages that match.
#[tool]
pub fn find() -> Hit {
    Hit { title: "one".to_owned() }
}

fn main() {}
