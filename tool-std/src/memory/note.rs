//! The `memory_block` tool, which appends a note to the block of the conversation.

use tool_core::prelude::*;
use tool_core::store::{NewNote, Timestamp};
use tool_core::{ErrorKind, Writes};

use super::Memory;
use super::host::{thread, unavailable};

/// The block after the note: the output of [`memory_block`](fn@memory_block).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct BlockState {
    /// The number of notes that were ever appended.
    pub total_notes: u64,
    /// The number of oldest notes that were removed, because the block was full.
    pub removed_notes: u64,
    /// The length of the block, in characters.
    pub chars: u64,
}

/// Appends a short note to the block of notes of this conversation, which all its agents read at each turn. Use it for intermediate results and agreements that
/// matter until the end of the conversation. The block has a limited length: the oldest notes are shortened first.
#[tool(
    category = "memory",
    example("A note", { "note": "The user approved the outline; the draft is in draft.md." }),
    example("An agreement", { "note": "Answers are in French from here on." }),
)]
pub async fn memory_block(
    memory: &Writes<Memory>,
    cx: &ToolContext,
    /// The text of the note.
    #[arg(length = 1..=500)]
    note: String,
) -> Result<BlockState, ToolError> {
    let text = cx.redact(note.trim());
    if text.is_empty() {
        let text = "the note is blank: write what should be noted";
        return Err(ToolError::of(ErrorKind::InvalidArguments, text));
    }
    let author = memory.label.as_deref().or(cx.agent());
    let author = author.filter(|author| !author.trim().is_empty());
    let shortened = |text: &str, most| text.chars().take(most).collect::<String>();
    let note = NewNote {
        thread: thread(cx)?,
        author: shortened(author.unwrap_or("agent"), NewNote::MOST_AUTHOR),
        // A redacted secret may be longer than the secret.
        text: shortened(&text, NewNote::MOST_CHARS),
        at: Timestamp::now(),
    };
    let block = memory.memories.append_note(note).await;
    let block = block.map_err(unavailable)?;
    Ok(BlockState {
        total_notes: block.total(),
        removed_notes: block.removed,
        chars: u64::try_from(block.chars()).unwrap_or(u64::MAX),
    })
}
