use tool_core::prelude::*;

type Notes = std::sync::Arc<std::sync::Mutex<Vec<String>>>;

/// Counts the notes, for this test.
#[tool]
pub fn count_notes(notes: &Notes) -> usize {
    notes.lock().map_or(0, |notes| notes.len())
}

fn main() {}
