//! Host values: a tool's signature names the host values that it may use, and its effects follow from them.
//!
//! `cargo run --example shared_state`

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use tool_core::{Reads, Writes, prelude::*};

/// The notes, by their titles.
pub type Notes = Arc<Mutex<BTreeMap<String, String>>>;

/// Finds a note by its title.
#[tool(read_only)]
pub fn find_note(
    notes: &Reads<Notes>,
    /// The title of the note.
    title: String,
) -> Result<String, ToolError> {
    let notes = notes
        .lock()
        .map_err(|_| ToolError::new("the notes are broken"))?;
    notes
        .get(&title)
        .cloned()
        .ok_or_else(|| ToolError::new(format!("no note `{title}`")))
}

// With `read_only` on this tool, it would not compile: `Writes` can write.
/// Writes a note.
#[tool(idempotent)]
pub fn write_note(
    notes: &Writes<Notes>,
    /// The title of the note.
    title: String,
    /// The text of the note.
    text: String,
) -> Result<(), ToolError> {
    notes
        .lock()
        .map_err(|_| ToolError::new("the notes are broken"))?
        .insert(title, text);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let registry = Registry::linked()?;
    let tools = registry.open();
    for name in tools.names() {
        let tool = tools.get(name).ok_or("listed tools exist")?;
        println!("{name}: {:?}", tool.effect());
    }
    let cx = ToolContext::builder().with(Notes::default()).build();
    for (tool, arguments) in [
        ("find_note", r#"{"title":"milk"}"#),
        ("write_note", r#"{"title":"milk","text":"two litres"}"#),
        ("find_note", r#"{"title":"milk"}"#),
    ] {
        let result = tools
            .call(ToolCall::new("call_1", tool, arguments), &cx)
            .await;
        println!("{tool} {arguments}: {}", result.model_text());
    }
    Ok(())
}
