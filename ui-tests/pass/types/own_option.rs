use tool_core::prelude::*;

type Maybe<T> = Option<T>;

/// The record `Record` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Record {
    /// A field that may be absent: the trait decides this, not the spelling of the type.
    #[serde(default)]
    pub nick: Maybe<String>,
}

/// Returns the arguments as text.
#[tool]
pub fn read(
    /// The argument `record` of the tool.
    record: Record,
    /// The argument `number` of the tool.
    number: Maybe<u8>,
) -> Result<String, ToolError> {
    Ok(format!("{record:?} {number:?}"))
}

fn main() {
    let tools = toolset![read];
    assert!(tools.get("read").unwrap().schema(Dialect::Mcp).contains(r#""required":["record"]"#));
}
