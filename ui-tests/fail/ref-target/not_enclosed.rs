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
    #[schema(recursive)]
    pub folder: Option<Box<Folder>>,
}

/// Takes an entry without the folder around it.
#[tool(providers(openai))]
pub fn take(
    /// The argument `entry` of the tool.
    entry: Entry,
) -> Result<bool, ToolError> {
    Ok(entry.folder.is_some())
}

fn main() {}
