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
    pub folder: Option<Folder>,
}

fn main() {}
