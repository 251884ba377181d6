use tool_core::prelude::*;
use tool_core::{Effect, host_value};

/// A host value that can write.
#[derive(Clone)]
pub struct Writer;
host_value!(Writer, Effect::WRITE);

/// A host value that can only read.
#[derive(Clone)]
pub struct Reader;
host_value!(Reader, Effect::READ);

/// The tool `write` of this test.
#[tool]
pub fn write(writer: &Writer, reader: &Reader) -> Result<(), ToolError> {
    let _ = (writer, reader);
    Ok(())
}

/// Takes an optional host value that can only read.
#[tool]
pub fn read(#[context] reader: Option<Reader>) -> Result<(), ToolError> {
    drop(reader);
    Ok(())
}

/// Reads the value, and declares that it only reads.
#[tool(read_only, open_world)]
pub fn look(reader: &Reader) -> Result<(), ToolError> {
    let _ = reader;
    Ok(())
}

fn main() {
    assert_eq!(<write as Tool>::DEF.effect(), Effect::READ.union(Effect::WRITE));
    assert_eq!(<read as Tool>::DEF.effect(), Effect::READ);
    assert_eq!(<look as Tool>::DEF.effect(), Effect::READ.union(Effect::EXTERNAL));
    let hint = |tools: Toolset| tools.definitions(Dialect::Mcp).contains(r#""readOnlyHint":true"#);
    assert!(hint(toolset![read]) && hint(toolset![look]) && !hint(toolset![write]));
}
