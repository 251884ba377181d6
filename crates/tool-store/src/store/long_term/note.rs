//! The notes of a thread: a short block of text that its agents share.

use serde::{Deserialize, Serialize};

use crate::store::{StoreError, ThreadId, Timestamp};

/// A note to append to the block of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNote {
    /// The thread of the block.
    pub thread: ThreadId,
    /// The label of the author, such as the name of the agent.
    pub author: String,
    /// The text of the note.
    pub text: String,
    /// When the note is written.
    pub at: Timestamp,
}

impl NewNote {
    /// The maximum length of a note, in characters.
    pub const MOST_CHARS: usize = 500;

    /// The maximum length of the label of an author, in characters.
    pub const MOST_AUTHOR: usize = 100;

    /// Checks the note. Fails with `Conflict` if the text is blank or longer than [`MOST_CHARS`](Self::MOST_CHARS), or if the author is blank or
    /// longer than [`MOST_AUTHOR`](Self::MOST_AUTHOR).
    pub fn check(&self) -> Result<(), StoreError> {
        for (name, text, most) in [
            ("text", &self.text, Self::MOST_CHARS),
            ("author", &self.author, Self::MOST_AUTHOR),
        ] {
            let length = text.chars().count();
            if text.trim().is_empty() || length > most {
                return Err(StoreError::Conflict(format!(
                    "the {name} of a note is blank or has {length} characters: write 1 to {most}"
                )));
            }
        }
        Ok(())
    }
}

/// A note of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// The label of the author.
    pub author: String,
    /// The text, or its beginning if the note was shortened.
    pub text: String,
    /// Whether the text was shortened.
    pub shortened: bool,
    /// When the note was written.
    pub at: Timestamp,
}

/// The notes of a thread, oldest first.
///
/// The block has a maximum length. If a new note exceeds it, the oldest notes are shortened to their first [`SHORT`](Self::SHORT) characters, one
/// after the other; if all older notes are short, the oldest notes are removed. So a model always sees the newest note in full, and knows how many
/// notes are missing.
///
/// ```
/// use tool_store::{NewNote, NoteBlock, ThreadId, Timestamp};
///
/// let thread = ThreadId::new("acme", "main")?;
/// let note = |author: &str, text: &str| NewNote { thread: thread.clone(), author: author.into(), text: text.into(), at: Timestamp::now() };
/// let mut block = NoteBlock::default();
/// block.append(note("planner", "Ask Ada for the budget"));
/// block.append(note("writer", "The draft is in draft.md"));
/// assert_eq!(block.to_string(), "[planner] Ask Ada for the budget\n[writer] The draft is in draft.md");
/// # Ok::<(), tool_store::StoreError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoteBlock {
    /// The notes, oldest first.
    pub notes: Vec<Note>,
    /// The number of notes that were removed.
    pub removed: u64,
}

impl NoteBlock {
    /// The maximum length of the block as text, in characters.
    pub const MOST_CHARS: usize = 4_000;

    /// The length of a shortened note without its ellipsis, in characters.
    pub const SHORT: usize = 80;

    /// Appends a note, and shortens or removes the oldest notes if the block becomes too long.
    pub fn append(&mut self, note: NewNote) {
        self.notes.push(Note {
            author: note.author,
            text: note.text,
            shortened: false,
            at: note.at,
        });
        while self.chars() > Self::MOST_CHARS && self.compact() {}
    }

    /// Shortens or removes one note. Returns false if only the newest note is left.
    fn compact(&mut self) -> bool {
        let older = self.notes.len().saturating_sub(1);
        let long = self.notes.iter_mut().take(older);
        let mut long = long.filter(|note| !note.shortened);
        let first = long.find_map(|note| {
            let (end, _) = note.text.char_indices().nth(Self::SHORT)?;
            Some((note, end))
        });
        if let Some((note, end)) = first {
            note.text.truncate(end);
            note.text.push('…');
            note.shortened = true;
            return true;
        }
        if older == 0 {
            return false;
        }
        self.notes.remove(0);
        self.removed += 1;
        true
    }

    /// Returns the length of the block as text, in characters.
    pub fn chars(&self) -> usize {
        self.to_string().chars().count()
    }

    /// Returns the number of notes that were ever appended.
    pub fn total(&self) -> u64 {
        self.removed + u64::try_from(self.notes.len()).unwrap_or(u64::MAX)
    }
}

impl std::fmt::Display for NoteBlock {
    /// Writes the number of removed notes, if notes were removed, and one line for each note. The line begins with the label of the author, so that a
    /// model can tell the authors apart. A line break in a note becomes a space, so that the text of a note cannot look like a note of a different
    /// author.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut is_first = true;
        if self.removed > 0 {
            write!(f, "({} older notes were removed)", self.removed)?;
            is_first = false;
        }
        for note in &self.notes {
            if !is_first {
                f.write_str("\n")?;
            }
            is_first = false;
            write!(f, "[{}] {}", one_line(&note.author), one_line(&note.text))?;
        }
        Ok(())
    }
}

fn one_line(text: &str) -> String {
    text.split(|letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}'))
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
