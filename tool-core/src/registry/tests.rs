//! Tests of the capacity that a registry reserves for outputs.

use serde_json::{Value, json};

use super::{MOST_ROOM, ToolIndex};
use crate::context::ToolContext;
use crate::error::ToolError;
use crate::tool::{DynamicTool, ToolDef};

fn shelf() -> Result<ToolIndex, Vec<String>> {
    let schema = json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": false });
    let body = async |arguments: Value, _: ToolContext| Ok::<_, ToolError>(arguments);
    let tool = DynamicTool::new("echo", "Returns the given text.", &schema, body);
    Ok(ToolIndex::of(vec![ToolDef::dynamic(
        tool.into_def()?.into(),
    )]))
}

#[test]
fn reserved_capacity_follows_output_sizes() -> Result<(), Vec<String>> {
    let shelf = shelf()?;
    assert_eq!(shelf.room(0), 0, "no output was written yet");
    shelf.wrote(0, 800);
    assert_eq!(shelf.room(0), 800);
    shelf.wrote(0, 100);
    assert_eq!(
        shelf.room(0),
        700,
        "a shorter output lowers the capacity gradually"
    );
    for _ in 0..20 {
        shelf.wrote(0, 100);
    }
    assert_eq!(shelf.room(0), 100, "a constant length becomes the capacity");
    shelf.wrote(0, usize::MAX);
    assert_eq!(shelf.room(0), MOST_ROOM);
    shelf.wrote(0, 0);
    assert!(shelf.room(0) < MOST_ROOM);
    shelf.wrote(1, 5);
    assert_eq!(shelf.room(1), 0, "the registry has only one tool");
    Ok(())
}
