//! The `list_directory` tool, which lists the entries of a folder.

use tool_core::prelude::*;

use super::limits::Limits;
use super::open::{self, Home};
use crate::workspace::{Facts, Kind, Reader};

/// The entries of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Listing {
    /// The folder, from the workspace on.
    pub path: String,
    /// Folders first, then everything else, each by name.
    pub entries: Vec<Entry>,
    /// How many entries the folder has.
    pub total_entries: u64,
    /// Whether there are more behind these.
    pub truncated: bool,
    /// Where to go on: the `offset` of the next call.
    pub next_offset: Option<u64>,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, StrictSchema)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(rename = "type")]
    pub kind: EntryKind,
    /// Bytes of a file.
    pub size_bytes: Option<u64>,
}

/// What an entry is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, StrictSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum EntryKind {
    /// A folder.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// Lists what is in a folder of the workspace, folders first. Names that begin with a dot are left out unless `hidden` is true. A
/// result has at most 200 entries; `next_offset` is the `offset` to go on with. Use `find_files` to look into the folders below.
#[tool(
    category = "files",
    example("The workspace itself", { "path": "." }),
    example("A folder with its hidden files", { "path": "app", "hidden": true }),
)]
pub fn list_directory(
    reader: &Reader,
    limits: &Limits,
    /// The folder, from the workspace on, or absolute and inside the workspace.
    #[arg(default = ".")]
    path: String,
    /// Take names that begin with a dot.
    #[arg(default = false)]
    hidden: bool,
    /// How many entries to leave out: `next_offset` of the result before.
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
            // An entry that was removed meanwhile, or whose name is not UTF-8, has no facts: only its name is returned.
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
