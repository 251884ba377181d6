//! The tools of the pack `fs` of `tool-std`.

use serde::{Deserialize, Serialize};
#[cfg(feature = "schema")]
use tool_core::StrictSchema;

use crate::ToolContract;

/// The arguments of `list_directory`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ListDirectory {
    /// The folder, relative to the workspace, or absolute and inside the workspace.
    pub path: Option<String>,
    /// Include names that begin with a dot.
    pub hidden: Option<bool>,
    /// The number of entries to skip: `next_offset` of the previous result.
    pub offset: Option<u64>,
}

impl ToolContract for ListDirectory {
    const NAME: &'static str = "list_directory";
    type Input = Self;
    type Output = Listing;
}

/// The arguments of `read_file`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ReadFile {
    /// The path of the file, relative to the workspace, or absolute and inside the workspace.
    pub path: String,
    /// Return only this number of lines at the end.
    #[cfg_attr(feature = "schema", schema(range = 1..=1_000_000))]
    pub tail: Option<u32>,
    /// The position in bytes at which to begin: `next_offset` of the previous result.
    pub offset: Option<u64>,
}

impl ToolContract for ReadFile {
    const NAME: &'static str = "read_file";
    type Input = Self;
    type Output = FileText;
}

/// The arguments of `read_file_parts`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct ReadFileParts {
    /// The parts to read.
    #[cfg_attr(feature = "schema", schema(min_items = 1, max_items = 10))]
    pub parts: Vec<Part>,
}

impl ToolContract for ReadFileParts {
    const NAME: &'static str = "read_file_parts";
    type Input = Self;
    type Output = PartTexts;
}

/// The arguments of `find_files`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct FindFiles {
    /// A glob: `*` and `?` within a name, `**` for any folders, `[ab]`, `{a,b}`. A glob without `/` matches names in any folder.
    #[cfg_attr(feature = "schema", schema(length = 1..=1000))]
    pub pattern: String,
    /// The folder to search, relative to the workspace, or absolute and inside the workspace.
    pub path: Option<String>,
    /// Include names that begin with a dot.
    pub hidden: Option<bool>,
    /// Include files that `.gitignore` or `.ignore` exclude.
    pub ignored: Option<bool>,
    /// The maximum number of paths to return.
    #[cfg_attr(feature = "schema", schema(range = 1..=1000))]
    pub limit: Option<u32>,
    /// The number of paths to skip: `next_offset` of the previous result.
    pub offset: Option<u64>,
}

impl ToolContract for FindFiles {
    const NAME: &'static str = "find_files";
    type Input = Self;
    type Output = Found;
}

/// The arguments of `search_files`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct SearchFiles {
    /// A regular expression in Rust's syntax, which is matched with each line.
    #[cfg_attr(feature = "schema", schema(length = 1..=1_000))]
    pub pattern: String,
    /// The folder or file to search, relative to the workspace, or absolute and inside the workspace.
    pub path: Option<String>,
    /// Search only files that match this glob, as in `find_files`.
    #[cfg_attr(feature = "schema", schema(length = 1..=1000))]
    pub glob: Option<String>,
    /// Search for the pattern as plain text.
    pub literal: Option<bool>,
    /// Ignore the difference between upper and lower case.
    pub ignore_case: Option<bool>,
    /// The number of lines to return before and after each match.
    #[cfg_attr(feature = "schema", schema(range = 0..=10))]
    pub context: Option<u32>,
    /// Include names that begin with a dot.
    pub hidden: Option<bool>,
    /// Include files that `.gitignore` or `.ignore` exclude.
    pub ignored: Option<bool>,
    /// The maximum number of matching lines to return.
    #[cfg_attr(feature = "schema", schema(range = 1..=1000))]
    pub limit: Option<u32>,
    /// The number of matching lines to skip: `next_offset` of the previous result.
    #[cfg_attr(feature = "schema", schema(range = 0..=100_000))]
    pub offset: Option<u64>,
}

impl ToolContract for SearchFiles {
    const NAME: &'static str = "search_files";
    type Input = Self;
    type Output = Matches;
}

/// The arguments of `write_file`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct WriteFile {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The whole text of the file.
    pub content: String,
    /// Replace the file if it exists.
    pub overwrite: Option<bool>,
}

impl ToolContract for WriteFile {
    const NAME: &'static str = "write_file";
    type Input = Self;
    type Output = Written;
}

/// The arguments of `edit_file`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct EditFile {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The text to replace, exactly as it is in the file.
    #[cfg_attr(feature = "schema", schema(length = 1..=1_000_000))]
    pub old_text: String,
    /// The replacement text; empty to delete the old text.
    pub new_text: String,
    /// Replace every occurrence of the text, instead of exactly one.
    pub replace_all: Option<bool>,
}

impl ToolContract for EditFile {
    const NAME: &'static str = "edit_file";
    type Input = Self;
    type Output = Edited;
}

/// The entries of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Listing {
    /// The path of the folder, relative to the workspace.
    pub path: String,
    /// Folders first, then everything else, each by name.
    pub entries: Vec<Entry>,
    /// The number of entries of the folder, hidden entries included only if `hidden` is true.
    pub total_entries: u64,
    /// Whether there are more entries after these.
    pub truncated: bool,
    /// The `offset` of the next call, to continue.
    pub next_offset: Option<u64>,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Entry {
    /// The name of the entry.
    pub name: String,
    /// The kind of the entry.
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// The size in bytes, if it is a file that can be opened.
    pub size_bytes: Option<u64>,
}

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// The entry is a folder.
    Directory,
    /// The entry is a regular file.
    File,
    /// The entry is a symbolic link.
    Link,
    /// The entry is a pipe, a socket or a device, or its kind is unknown.
    Other,
}

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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

/// A range of lines to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Part {
    /// The path of the file, relative to the workspace, or absolute and inside the workspace.
    pub path: String,
    /// The first line, counted from 1.
    #[cfg_attr(feature = "schema", schema(range = 1..=4_294_967_295))]
    pub start_line: u64,
    /// The last line to read, inclusive.
    #[cfg_attr(feature = "schema", schema(range = 1..=4_294_967_295))]
    pub end_line: u64,
}

/// A range of lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct PartTexts {
    /// The parts, in the order of the request.
    pub parts: Vec<PartText>,
}

/// The files whose names match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Found {
    /// The paths of the files, relative to the workspace, sorted.
    pub paths: Vec<String>,
    /// The number of all matching paths.
    pub total: u64,
    /// Whether there are more paths: after these, or among files that were not searched.
    pub truncated: bool,
    /// The `offset` of the next call, to continue.
    pub next_offset: Option<u64>,
    /// Advice if not every file was searched or not every ignore rule was applied.
    pub note: Option<String>,
}

/// The lines that match the pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Matches {
    /// The files with matching lines, by path.
    pub files: Vec<FileMatches>,
    /// The number of matching lines in this result.
    pub matches: u64,
    /// Whether there are more matches: after these, or in files that were not searched.
    pub truncated: bool,
    /// The `offset` of the next call, to continue.
    pub next_offset: Option<u64>,
    /// The number of files that could not be read, for example files with several hard links, on a different file system, without permission, or with
    /// a line that is too long.
    pub skipped: u64,
    /// Advice if not every file was searched or not every ignore rule was applied.
    pub note: Option<String>,
}

/// The matching lines of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct FileMatches {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The matching lines and the requested lines around them.
    pub lines: Vec<Line>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Line {
    /// The number of the line, counted from 1.
    pub line: u64,
    /// The text of the line without its line end; if it is long, the first 500 bytes and `…`.
    pub text: String,
    /// Whether the line matches. It is false for the lines around a match.
    pub matched: bool,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
pub struct Written {
    /// The path of the file, relative to the workspace.
    pub path: String,
    /// The size of the file in bytes.
    pub size_bytes: u64,
    /// Whether the file is new.
    pub created: bool,
}

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(StrictSchema))]
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
