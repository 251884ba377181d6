use tool_core::prelude::*;
use tool_core::schema::Schema;

/// A type of the host, whose schema is written by hand.
#[derive(Debug)]
pub struct Plain;

impl StrictSchema for Plain {
    const SCHEMA: &'static Schema = <String as StrictSchema>::SCHEMA;
}

/// A person.
#[derive(Debug, StrictSchema)]
pub struct Person {
    /// Name.
    pub name: Plain,
}

/// Greets.
#[tool]
pub fn greet(
    /// Name.
    whom: Person,
) -> Result<String, ToolError> {
    Ok(format!("{whom:?}"))
}

fn main() {}
