//! Tests that the effects of a tool follow from its parameters and options.

use tool_core::{Effect, prelude::*};

/// A host value that can read.
#[derive(Clone)]
pub struct Reader;
tool_core::host_value!(Reader, Effect::READ);

/// A host value that can write.
#[derive(Clone)]
pub struct Writer;
tool_core::host_value!(Writer, Effect::WRITE);

/// Reads a note, for this test.
#[tool(read_only)]
fn read_note(_reader: &Reader) {}

/// Writes a note, and is declared as idempotent.
#[tool(idempotent)]
fn write_note(_reader: &Reader, #[context] _writer: Option<Writer>) {}

/// Fetches a note, for this test.
#[tool(open_world)]
fn fetch_note() {}

/// Removes a note.
#[tool(destructive)]
fn remove_note() {}

/// Adds one to a number.
#[tool]
fn add_one(
    /// The number to add to.
    number: u32,
) -> u32 {
    number + 1
}

// M4: the effect of a tool is the union of its host parameters' effects and its options.
#[test]
fn effects_are_the_union_of_host_parameters_and_options() {
    assert_eq!(<read_note as Tool>::DEF.effect(), Effect::READ);
    assert_eq!(
        <write_note as Tool>::DEF.effect(),
        Effect::READ.union(Effect::WRITE)
    );
    assert_eq!(<fetch_note as Tool>::DEF.effect(), Effect::EXTERNAL);
    assert!(
        <remove_note as Tool>::DEF
            .effect()
            .contains(Effect::DESTROY)
    );
    assert_eq!(<add_one as Tool>::DEF.effect(), Effect::NONE);
}

// M4: the hints of a tool, which are its MCP annotations, follow from its effects and options.
#[test]
fn annotations_follow_from_effects() {
    let read = <read_note as Tool>::DEF.hints();
    assert!(read.read_only && read.idempotent && !read.destructive && !read.open_world);
    let write = <write_note as Tool>::DEF.hints();
    assert!(!write.read_only && write.idempotent);
    assert!(<fetch_note as Tool>::DEF.hints().open_world);
    assert!(<remove_note as Tool>::DEF.hints().destructive);
    let mcp: serde_json::Value =
        serde_json::from_str(<remove_note as Tool>::DEF.definition(Dialect::Mcp))
            .expect("a definition is JSON");
    assert_eq!(mcp["annotations"]["destructiveHint"], true);
}
