//! The `read_file` and `read_file_parts` tools, which read text files.

use tool_core::prelude::*;

use super::limits::Limits;
use super::open::{self, Home};
use super::text::{Text, Unreadable};
use crate::workspace::{Reader, Workspace, WorkspacePath};

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct FileText {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The text of the file, or the part that this result contains.
    pub content: String,
    /// The size of the whole file in bytes.
    pub size_bytes: u64,
    /// The number of lines of the whole file.
    pub lines: u64,
    /// The number of the line in which `content` begins.
    pub start_line: u64,
    /// The number of the line in which `content` ends.
    pub end_line: u64,
    /// Whether a part of the requested text is missing.
    pub truncated: bool,
    /// The `offset` of the next call, to continue after `content`.
    pub next_offset: Option<u64>,
}

/// Reads a text file of the workspace: from its beginning, from an offset, or its last lines. A result has at most 500 lines and 512 KiB
/// of a file of up to 16 GiB; to continue, pass `next_offset` as `offset`. Use `read_file_parts` for lines whose numbers are known.
#[tool(
    category = "files",
    example("A whole file", { "path": "src/main.rs" }),
    example("The last 20 lines of a log", { "path": "logs/build.log", "tail": 20 }),
    example("Continue where the previous result ended", { "path": "data/large.csv", "offset": 524288 }),
)]
pub fn read_file(
    cx: &ToolContext,
    reader: &Reader,
    limits: &Limits,
    /// The path of the file, relative to the workspace, or absolute and inside the workspace.
    path: String,
    /// Return only this number of lines at the end.
    #[arg(range = 1..=1_000_000)]
    tail: Option<u32>,
    /// The position in bytes at which to begin: `next_offset` of the previous result.
    #[arg(default = 0)]
    offset: u64,
) -> Result<FileText, ToolError> {
    let from = match tail {
        Some(_) if offset > 0 => {
            return Err(ToolError::new(
                "`tail` and `offset` exclude each other, leave one out",
            ));
        }
        Some(tail) => From::Tail(tail),
        None => From::Offset(offset),
    };
    let path = reader.resolve(&path).map_err(ToolError::shown)?;
    let text = window(reader, &path, &from, limits, &|| cx.is_cancelled())?;
    cx.cite(Citation::new("workspace", path.as_str()));
    Ok(text)
}

/// Reads the text of a file as `read_file` does, for your own tools: opens it below the conversation's folder, checks that it is text, and returns a
/// window of it that begins at `offset`.
///
/// # Errors
///
/// Fails if the file cannot be read; the error's text is written for the model.
///
/// ```
/// use tool_std::fs::{Limits, read_text};
/// use tool_std::workspace::{WorkspacePath, Workspaces};
///
/// # let root = tempfile::tempdir()?;
/// # let root = root.path();
/// let workspace = Workspaces::new(root).open("acme", "c-1")?;
/// workspace.dir()?.write("notes.md", "one\ntwo\n")?;
/// let text = read_text(&workspace, &WorkspacePath::relative("notes.md")?, 4, &Limits::default()).unwrap();
/// assert_eq!((&*text.content, text.start_line, text.lines), ("two\n", 2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn read_text(
    workspace: &Workspace,
    path: &WorkspacePath,
    offset: u64,
    limits: &Limits,
) -> Result<FileText, ToolError> {
    window(workspace, path, &From::Offset(offset), limits, &|| false)
}

/// The position at which a window begins.
enum From {
    Offset(u64),
    /// This many lines before the end.
    Tail(u32),
}

fn window(
    workspace: &Workspace,
    path: &WorkspacePath,
    from: &From,
    limits: &Limits,
    cancelled: &dyn Fn() -> bool,
) -> Result<FileText, ToolError> {
    let home = Home::of(workspace)?;
    let mut text = open(&home, path, limits, cancelled)?;
    let told = |fault| unreadable(path, fault);
    let (start, short) = match from {
        From::Tail(tail) => tail_from(&mut text, *tail, limits).map_err(told)?,
        From::Offset(offset) => ((*offset).min(text.size), false),
    };
    let start_line = text.line_at(start).map_err(told)?.min(text.lines);
    let (size_bytes, lines) = (text.size, text.lines);
    let whole = size_bytes <= limits.bytes as u64 && lines <= limits.lines as u64;
    let (content, end_line) = if start == 0 && whole {
        (text.into_string().map_err(told)?, lines)
    } else {
        let window = text
            .window(start, limits.lines, limits.bytes)
            .map_err(told)?;
        let end_line = start_line + newlines_within(&window);
        (window, end_line)
    };
    let end = start + content.len() as u64;
    let more = end < size_bytes;
    Ok(FileText {
        path: path.to_string(),
        size_bytes,
        lines,
        start_line,
        end_line,
        truncated: short || more,
        next_offset: more.then_some(end),
        content,
    })
}

/// Returns the offset at which the last `tail` lines begin, or as many of them as the limits allow, and whether the limits leave some of the lines
/// out.
fn tail_from(text: &mut Text, tail: u32, limits: &Limits) -> Result<(u64, bool), Unreadable> {
    let wanted = text.lines.min(tail.into());
    let lines = wanted.min(limits.lines as u64);
    let mut start = text.start_of(text.lines - lines + 1)?;
    let mut short = lines < wanted;
    if text.size - start > limits.bytes as u64 {
        short = true;
        start = text.line_within(text.size - limits.bytes as u64)?;
    }
    Ok((start, short))
}

/// Counts the line ends that are followed by more text.
fn newlines_within(content: &str) -> u64 {
    let inner = content.strip_suffix('\n').unwrap_or(content);
    memchr::memchr_iter(b'\n', inner.as_bytes()).count() as u64
}

/// A range of lines to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Part {
    /// The path of the file, relative to the workspace, or absolute and inside the workspace.
    pub path: String,
    /// The first line, counted from 1.
    #[schema(range = 1..=4_294_967_295)]
    pub start_line: u64,
    /// The last line to read, inclusive.
    #[schema(range = 1..=4_294_967_295)]
    pub end_line: u64,
}

/// A range of lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PartText {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The number of the first line in `text`; 0 for an empty file.
    pub start: u64,
    /// The number of the last line in `text`; 0 for an empty file.
    pub end: u64,
    /// The number of lines of the whole file.
    pub total_lines: u64,
    /// The lines, each with its line end.
    pub text: String,
    /// Whether the file lacks some of the requested lines: then `start` and `end` are the nearest lines that it has.
    pub clamped: bool,
    /// Whether the lines were too many or too long for one result: then request the lines after `end`.
    pub truncated: bool,
}

/// The requested parts of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct PartTexts {
    /// The parts, in the order of the request.
    pub parts: Vec<PartText>,
}

/// Reads ranges of lines from up to 10 text files of the workspace at once, at most 400 lines each. Use it with the line numbers that
/// `search_files` found.
#[tool(
    category = "files",
    example("Lines 10 to 40 of one file", { "parts": [{ "path": "src/main.rs", "start_line": 10, "end_line": 40 }] }),
    example("A declaration and its test", { "parts": [
        { "path": "src/lib.rs", "start_line": 1, "end_line": 25 },
        { "path": "tests/lib.rs", "start_line": 80, "end_line": 120 },
    ] }),
)]
pub fn read_file_parts(
    cx: &ToolContext,
    reader: &Reader,
    limits: &Limits,
    /// The parts to read.
    #[arg(min_items = 1, max_items = 10)]
    parts: Vec<Part>,
) -> Result<PartTexts, ToolError> {
    let home = Home::of(reader)?;
    let mut left = limits.bytes;
    let mut texts = Vec::with_capacity(parts.len());
    for part in parts {
        let text = read_part(cx, &home, limits, &part, left)?;
        left = left.saturating_sub(text.text.len());
        texts.push(text);
    }
    Ok(PartTexts { parts: texts })
}

fn read_part(
    cx: &ToolContext,
    home: &Home<'_>,
    limits: &Limits,
    part: &Part,
    most: usize,
) -> Result<PartText, ToolError> {
    let path = home
        .workspace
        .resolve(&part.path)
        .map_err(ToolError::shown)?;
    if part.end_line < part.start_line {
        return Err(ToolError::new(format!(
            "`{path}`: `end_line` {} is before `start_line` {}, the range includes both",
            part.end_line, part.start_line
        )));
    }
    let mut text = open(home, &path, limits, &|| cx.is_cancelled())?;
    let told = |fault| unreadable(&path, fault);
    let total_lines = text.lines;
    let start = part.start_line.min(total_lines);
    let last = part.end_line.min(total_lines);
    let end = last.min(start.saturating_add(limits.part_lines - 1));
    let lines = usize::try_from(end + 1 - start).unwrap_or(usize::MAX);
    let from = text.start_of(start).map_err(told)?;
    // If earlier parts have used up the limit of the result, this part is empty and truncated, and `end` is the line before `start`.
    let (window, end) = if total_lines == 0 || most == 0 {
        (
            String::new(),
            start.saturating_sub(u64::from(total_lines > 0)),
        )
    } else {
        let window = text.window(from, lines, most).map_err(told)?;
        let got = start + newlines_within(&window);
        (window, got)
    };
    // Not `<=`: if a program writes to the file meanwhile, the next line may begin before the end of the window.
    let whole = text.start_of(last + 1).map_err(told)? == from + window.len() as u64;
    cx.cite(Citation::new(
        "workspace",
        format!("{path}#L{start}-L{end}"),
    ));
    Ok(PartText {
        path: path.to_string(),
        start,
        end,
        total_lines,
        truncated: total_lines > 0 && !whole,
        clamped: (start, last) != (part.start_line, part.end_line),
        text: window,
    })
}

fn open(
    home: &Home<'_>,
    path: &WorkspacePath,
    limits: &Limits,
    cancelled: &dyn Fn() -> bool,
) -> Result<Text, ToolError> {
    let (file, facts) = home.file(path)?;
    Text::read(file, facts.size, limits.file_bytes, limits.bytes, cancelled)
        .map_err(|fault| unreadable(path, fault))
}

pub(super) fn unreadable(path: &WorkspacePath, fault: Unreadable) -> ToolError {
    match fault {
        Unreadable::Io(error) => open::told(path, &error),
        Unreadable::Binary => ToolError::new(format!(
            "`{path}` is a binary file (it contains a NUL byte), only text can be read"
        )),
        Unreadable::Encoding(at) => ToolError::new(format!(
            "`{path}` is not UTF-8 text from byte {at} on: it is binary or in a different encoding; take `offset` from the `next_offset` of a result"
        )),
        Unreadable::Long(most) => ToolError::new(format!(
            "`{path}` is longer than the {most} bytes that are read of a file, `search_files` finds lines in it"
        )),
        Unreadable::Cancelled => {
            ToolError::of(tool_core::ErrorKind::Cancelled, "the call was cancelled")
        }
    }
}
