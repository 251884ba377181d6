//! The `list_directory` tool, which lists the entries of a folder.

use tool_core::prelude::*;

use super::limits::Limits;
use super::open::{self, Home};
use crate::workspace::{Facts, Kind, Reader};

/// The entries of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
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
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, StrictSchema,
)]
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

/// Lists the entries of a folder of the workspace, folders first. Names that begin with a dot are left out unless `hidden` is true. A
/// result has at most 200 entries; to continue, pass `next_offset` as `offset`. Use `find_files` to search the folders below.
#[tool(
    category = "files",
    example("The workspace itself", { "path": "." }),
    example("A folder with its hidden files", { "path": "app", "hidden": true }),
)]
pub fn list_directory(
    reader: &Reader,
    limits: &Limits,
    /// The folder, relative to the workspace, or absolute and inside the workspace.
    #[arg(default = ".")]
    path: String,
    /// Include names that begin with a dot.
    #[arg(default = false)]
    hidden: bool,
    /// The number of entries to skip: `next_offset` of the previous result.
    #[arg(default = 0)]
    offset: u64,
) -> Result<Listing, ToolError> {
    let path = reader.resolve(&path).map_err(ToolError::shown)?;
    let home = Home::of(reader)?;
    let dir = home.folder(&path)?;
    let told = |error| open::told(&path, &error);
    let mut all = Vec::new();
    for entry in dir.entries().map_err(told)? {
        let entry = entry.map_err(told)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !hidden && name.starts_with('.') {
            continue;
        }
        let is_folder = entry.file_type().map_err(told)?.is_dir();
        all.push((!is_folder, name));
    }
    all.sort_unstable();
    let total_entries = all.len() as u64;
    let first = usize::try_from(offset).unwrap_or(usize::MAX);
    let shown = all.into_iter().skip(first).take(limits.entries);
    let entries: Vec<Entry> = shown
        .map(|(_, name)| {
            // An entry that was removed meanwhile, or whose name is not UTF-8, has no facts: its kind is `other`, and its size is unknown.
            let facts = Facts::at(&dir, &name).ok();
            let own = facts.as_ref().is_some_and(|facts| {
                facts.kind == Kind::File && facts.admit(home.place, reader.trust()).is_ok()
            });
            Entry {
                name,
                kind: facts
                    .as_ref()
                    .map_or(EntryKind::Other, |facts| facts.kind.into()),
                size_bytes: facts.filter(|_| own).map(|facts| facts.size),
            }
        })
        .collect();
    let next = offset.saturating_add(entries.len() as u64);
    Ok(Listing {
        path: path.to_string(),
        truncated: next < total_entries,
        next_offset: (next < total_entries).then_some(next),
        total_entries,
        entries,
    })
}

impl From<Kind> for EntryKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Folder => Self::Directory,
            Kind::File => Self::File,
            Kind::Link => Self::Link,
            Kind::Other => Self::Other,
        }
    }
}
