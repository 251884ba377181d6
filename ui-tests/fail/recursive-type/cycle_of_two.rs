use tool_core::prelude::*;

/// The record `Folder` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Folder {
    /// The entries of the folder.
    pub entries: Vec<Entry>,
}

/// The record `Entry` of this test.
#[derive(Debug, Deserialize, StrictSchema)]
pub struct Entry {
    /// The field `folder` of `Entry`.
    pub folder: Option<Box<Folder>>,
}

/// Walks through all of the entries.
#[tool]
pub fn walk(
    /// The argument `root` of the tool.
    root: Folder,
) -> Result<usize, ToolError> {
    Ok(root.entries.len())
}

fn main() {}
