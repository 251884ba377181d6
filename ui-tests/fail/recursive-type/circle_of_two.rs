use tool_core::prelude::*;

/// A folder.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Folder {
    /// What is in it.
    pub entries: Vec<Entry>,
}

/// An entry.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Entry {
    /// The folder below.
    pub folder: Option<Box<Folder>>,
}

/// Walks.
#[tool]
pub fn walk(
    /// The root.
    root: Folder,
) -> Result<usize, ToolError> {
    Ok(root.entries.len())
}

fn main() {}
