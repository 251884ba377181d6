//! Host values: what a tool may touch is in its signature, and its effects follow from there.
//!
//! `cargo run --example shared_state`

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use tool_core::{Effect, prelude::*};

type Notes = Arc<Mutex<BTreeMap<String, String>>>;

/// Reads notes.
#[derive(Clone)]
pub struct Reader(Notes);

/// Writes notes.
#[derive(Clone)]
pub struct Writer(Notes);

impl FromContext for Reader {
    const EFFECT: Effect = Effect::READ;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension::<Notes>()
            .map(Self)
            .ok_or_else(|| ToolError::new("this host keeps no notes"))
    }
}

impl FromContext for Writer {
    const EFFECT: Effect = Effect::WRITE;

    fn from_context(cx: &ToolContext) -> Result<Self, ToolError> {
        cx.extension::<Notes>()
            .map(Self)
            .ok_or_else(|| ToolError::new("this host keeps no notes"))
    }
}

/// Finds a note by its title.
#[tool(read_only)]
pub fn find_note(
    notes: &Reader,
    /// Title of the note.
    title: String,
) -> Result<String, ToolError> {
    let notes = notes
        .0
        .lock()
        .map_err(|_| ToolError::new("the notes are broken"))?;
    notes
        .get(&title)
        .cloned()
        .ok_or_else(|| ToolError::new(format!("no note `{title}`")))
}

/// Writes a note. With `read_only` on it, this would not compile: `Writer` can write.
#[tool(idempotent)]
pub fn write_note(
    notes: &Writer,
    /// Title of the note.
    title: String,
    /// Its text.
    text: String,
) -> Result<(), ToolError> {
    notes
        .0
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
