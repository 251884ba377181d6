//! The `edit_file` tool, which replaces exact text in a file.

use memchr::memmem;
use tool_core::prelude::*;

use super::limits::Limits;
use super::open::Home;
use super::read::unreadable;
use super::text::{Text, Unreadable};
use super::write::{file_path, put, too_long};
use crate::workspace::{WorkspacePath, Writer};

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Edited {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The size of the file in bytes after the edit.
    pub size_bytes: u64,
    /// The number of replacements.
    pub replacements: u64,
    /// Number of the line in which the first replacement begins.
    pub line: u64,
}

/// Replaces exact text in a file of the workspace, atomically. `old_text` must occur exactly once in the file, unless `replace_all` is true.
/// Copy it with its white space from `read_file`, with enough lines around it to make it unique.
#[tool(
    category = "files",
    example("One line", { "path": "src/main.rs", "old_text": "let retries = 3;", "new_text": "let retries = 5;" }),
    example("Every place", { "path": "README.md", "old_text": "foo", "new_text": "bar", "replace_all": true }),
)]
pub fn edit_file(
    cx: &ToolContext,
    writer: &Writer,
    limits: &Limits,
    /// The path of the file, relative to the workspace.
    path: String,
    /// The text to replace, exactly as it is in the file.
    #[arg(length = 1..=1_000_000)]
    old_text: String,
    /// The replacement text; empty to delete the old text.
    new_text: String,
    /// Replace every occurrence of the text, instead of exactly one.
    #[arg(default = false)]
    replace_all: bool,
) -> Result<Edited, ToolError> {
    let path = file_path(&path)?;
    if old_text == new_text {
        return Err(ToolError::new(
            "`old_text` and `new_text` are the same, nothing would change",
        ));
    }
    let home = Home::of(writer)?;
    let slot = home.slot(&path, false)?;
    let (file, before) = home.in_slot(&path, &slot)?;
    let most = limits.written_bytes;
    let text = Text::read(file, before.size, most as u64, most, || cx.is_cancelled())
        .and_then(Text::into_string)
        .map_err(|fault| not_edited(&path, fault))?;
    let places = || memmem::find_iter(text.as_bytes(), &old_text);
    let line_of = |at: usize| memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u64 + 1;
    let Some(first) = places().next() else {
        return Err(absent(&path, &text, &old_text));
    };
    let count = places().count();
    if count > 1 && !replace_all {
        let lines: Vec<String> = places()
            .take(10)
            .map(|at| line_of(at).to_string())
            .collect();
        let more = if count > lines.len() { ", …" } else { "" };
        return Err(ToolError::new(format!(
            "`old_text` is in `{path}` {count} times (lines {}{more}): add lines around it that make it unique, or set `replace_all`",
            lines.join(", "),
        )));
    }
    // Checked before the new text is built: many replacements can turn a short file into a text that does not fit into memory.
    let kept = text.len() - count * old_text.len();
    let bytes = count.saturating_mul(new_text.len()).saturating_add(kept);
    too_long(&path, bytes, limits)?;
    let changed = text.replace(&old_text, &new_text);
    // Under the lock, check that the file has not changed since it was read.
    let _lock = home.lock(&path, || cx.is_cancelled())?;
    if home.present(&path, &slot)?.as_ref() != Some(&before) {
        return Err(ToolError::new(format!(
            "`{path}` was changed in the meantime, read it again"
        )));
    }
    put(&path, &slot, &changed, Some(&before))?;
    Ok(Edited {
        path: path.to_string(),
        size_bytes: changed.len() as u64,
        replacements: count as u64,
        line: line_of(first),
    })
}

/// Returns the error for a file that cannot be read for an edit.
fn not_edited(path: &WorkspacePath, fault: Unreadable) -> ToolError {
    match fault {
        Unreadable::Long(most) => ToolError::new(format!(
            "`{path}` is longer than the {most} bytes that may be written, so it cannot be edited: make it smaller in a different way, or write the new text to a separate file"
        )),
        fault => unreadable(path, fault),
    }
}

/// Returns the error for an `old_text` that was not found, with the likely cause.
fn absent(path: &WorkspacePath, text: &str, old_text: &str) -> ToolError {
    let windows = text.contains("\r\n") && !old_text.contains('\r');
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = if windows && text.contains(&old_text.replace('\n', "\r\n")) {
        "the lines of the file end with `\\r\\n`, write these line ends in `old_text` too"
    } else if squeezed(text).contains(&squeezed(old_text)) {
        "the file has it with different white space, copy it exactly from `read_file`"
    } else {
        "read the file again and copy the text exactly"
    };
    ToolError::new(format!("`old_text` is not in `{path}`: {why}"))
}
