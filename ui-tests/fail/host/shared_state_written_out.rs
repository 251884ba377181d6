use tool_core::prelude::*;

use std::sync::{Arc, Mutex};

/// Counts the notes, for this test.
#[tool]
pub fn count_notes(notes: &Arc<Mutex<Vec<String>>>) -> usize {
    notes.lock().map_or(0, |notes| notes.len())
}

fn main() {}
