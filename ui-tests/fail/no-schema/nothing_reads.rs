use tool_core::prelude::*;
use tool_core::schema::Schema;

/// A type of the host, whose schema is written by hand.
pub struct Plain;

impl StrictSchema for Plain {
    const SCHEMA: &'static Schema = <String as StrictSchema>::SCHEMA;
}

/// Greets a person by name.
#[tool]
pub fn greet(
    /// The argument `whom` of the tool.
    whom: Plain,
) -> Result<String, ToolError> {
    let Plain = whom;
    Ok(String::new())
}

fn main() {}
