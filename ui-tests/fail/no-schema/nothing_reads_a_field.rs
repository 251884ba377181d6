use tool_core::prelude::*;
use tool_core::schema::Schema;

/// A type of the host, whose schema is written by hand.
#[derive(Debug)]
pub struct Plain;

impl StrictSchema for Plain {
    const SCHEMA: &'static Schema = <String as StrictSchema>::SCHEMA;
}

/// The record `Person` of this test.
#[derive(Debug, StrictSchema)]
pub struct Person {
    /// The field `name` of `Person`.
    pub name: Plain,
}

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: Person,
) -> Result<String, ToolError> {
    Ok(format!("{whom:?}"))
}

fn main() {}
