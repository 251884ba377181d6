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
    /// A folder.
    #[schema(recursive)]
    pub folder: Option<Box<Folder>>,
}

/// Takes an entry without the folder around it.
#[tool(providers(openai))]
pub fn take(
    /// The entry.
    entry: Entry,
) -> Result<bool, ToolError> {
    Ok(entry.folder.is_some())
}

fn main() {}
