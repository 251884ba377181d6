use tool_core::prelude::*;

type Maybe<T> = Option<T>;

/// A record.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Record {
    /// May be absent: the trait decides, not the spelling.
    #[serde(default)]
    pub nick: Maybe<String>,
}

/// Reads.
#[tool]
pub fn read(
    /// A record.
    record: Record,
    /// A number.
    number: Maybe<u8>,
) -> Result<String, ToolError> {
    Ok(format!("{record:?} {number:?}"))
}

fn main() {
    let tools = toolset![read];
    assert!(tools.get("read").unwrap().schema(Dialect::Mcp).contains(r#""required":["record"]"#));
}
